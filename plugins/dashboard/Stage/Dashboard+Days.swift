import Client
import Configuration
import Figures
import HTTP
import HealthModel
import Inspection
import Logging

/// Requests about days: the same reports that the commands print.
extension Dashboard {
    /// The page never needs more days than this, and a request for more would take too much memory.
    private static let daysAtOnce = 400

    func about(_ visitor: Visitor, _ parameters: Parameters) throws -> Value {
        var members = visitor.value.object ?? [:]
        guard visitor.mayRead else { return .object(members) }
        let user = try visitor.person(parameters["user"])
        let people = try stack.people(reader())
        let zones = try people[user] ?? stack.zones(of: user, reader())
        let now = parts.clock()
        // Whoever only wants to see what hangs gets an answer even if it is the consolidator; requests for days don't.
        let ends =
            parts.series.withSeries(of: user) { ($0.first, $0.last) }
            ?? parts.series.withKept(of: user) { ($0.first, $0.last) }
        // Days that are only just being read aren't the same as no days.
        if ends == nil, !parts.series.isFailing { _ = try whole(ends) }
        members["user"] = .string(user)
        members["users"] = .array((visitor.only.map { [$0] } ?? people.keys.sorted()).map { .string($0) })
        members["zone"] = .string(zones.zone(at: now))
        members["today"] = .string(zones.day(of: now).description)
        members["first"] = Value(ends?.0?.description)
        members["last"] = Value(ends?.1?.description)
        members["imports"] = .bool(ingestURL != nil)
        return .object(members)
    }

    /// All figures, in the order of `healthbus days`.
    var figures: Value {
        let handlers = stack.configuration.handlers
        return [
            "figures": .array(
                stack.configuration.figures.map { figure in
                    let handler = handlers.first { $0.manifest.figures.contains { $0.path == figure.path } }
                    let column = figure.column
                    return [
                        "path": .string(figure.path.joined(separator: ".")),
                        "form": .string(figure.form.rawValue),
                        "unit": .string(figure.unit), "title": Value(column?.title),
                        "show": Value(column?.form.rawValue), "digits": Value(column?.digits),
                        "dividedBy": Value(column?.dividedBy), "suffix": Value(column?.suffix),
                        "hourly": Value(figure.hourly), "explain": Value(figure.explanation?.names.first),
                        "rule": Value(figure.explanation?.rule.rawValue),
                        "type": Value(figure.explanation?.type),
                        "handler": Value(handler?.name), "family": Value(handler?.family),
                    ]
                })
        ]
    }

    func days(_ user: String, _ parameters: Parameters) throws -> Value {
        let consolidator = try stack.instance(.consolidator)
        var range = try parameters.range(atMost: Self.daysAtOnce)
        if range == nil {
            let last = try parameters.number("last", 1...Self.daysAtOnce) ?? 7
            range = try whole(parts.series.withSeries(of: user) { $0.lastDays(last) })
        }
        guard let range else { return ["days": []] }
        return [
            "days": try DaysReport(reader(), consolidator: consolidator, user: user, range: range).value
        ]
    }

    func series(_ user: String, _ parameters: Parameters) throws -> [UInt8] {
        let range = try parameters.range() ?? DateRange()
        let named = parameters["figures"].map { $0.split(separator: ",").map(String.init) }
        let result = try whole(
            parts.series.withSeries(of: user) { series -> Result<[UInt8], DashboardProblem> in
                var columns = Array(series.names.indices)
                if let named {
                    columns = []
                    for name in named {
                        guard let column = series.names.firstIndex(of: name) else {
                            return .failure(
                                .parameter("figures", "names \(name), which isn't a numeric figure"))
                        }
                        if !columns.contains(column) { columns.append(column) }
                    }
                }
                return .success(series.json(columns, range))
            })
        return try result.get()
    }

    func day(_ user: String, _ parameters: Parameters) throws -> Value {
        guard let date = try parameters.day("date") else {
            throw DashboardProblem.parameter("date", "is missing")
        }
        var members = try DayReport(stack, reader(), user: user, day: date).value.object ?? [:]
        let around = try whole(parts.series.withSeries(of: user) { $0.neighbours(of: date) })
        members["previous"] = Value(around.previous?.description)
        members["next"] = Value(around.next?.description)
        return .object(members)
    }

    func explain(_ user: String, _ parameters: Parameters) throws -> Value {
        guard let date = try parameters.day("date") else {
            throw DashboardProblem.parameter("date", "is missing")
        }
        return try ExplainReport(
            stack, reader(), metric: try parameters.required("figure"), day: date, user: user
        ).value
    }

    func events(_ kind: EventRows.Kind, _ user: String, _ parameters: Parameters) throws -> Value {
        var range = try parameters.range()
        if range == nil, kind == .night {
            range = try whole(parts.series.withSeries(of: user) { $0.lastDays(90) })
        }
        let rows = try EventRows(stack, reader(), kind, user: user, range ?? DateRange())
        return [kind.rawValue + "s": rows.value]
    }

    /// - Throws: a 503 while the person's days are being read, at the start or because their columns were dropped, and
    ///   while the consolidator doesn't answer.
    private func whole<Content>(_ content: Content?) throws -> Content {
        guard let content else {
            throw DashboardProblem(
                503, "the days are still being read", hint: "ask again in a moment; 'healthbus doctor' says what hangs",
                headers: ["Retry-After": "1"])
        }
        return content
    }
}
