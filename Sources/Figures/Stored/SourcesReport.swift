import Client
import Configuration
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

/// `healthbus sources`: where a person's samples come from, and what of it is left out.
package struct SourcesReport {
    /// A source, or what it has of one type.
    struct Row {
        var source: String
        var product: String
        /// HealthKit's identifiers.
        var types: Set<String>
        var samples: Int64 = 0
        var first = Instant.distantFuture
        var last = Instant.distantPast
        /// Its place among the sources of one type, the first being 1; nil where samples of all sources count.
        var place: Int?
        var leftOut: [LeftOutSource] = []
    }

    package let user: String
    private let zones: ZoneTimeline
    private let rows: [SourcesPage.Row]
    /// All names of each source that has had several.
    private let groups: [[String]]
    package let leftOut: [LeftOutSource]
    private let configuration: StackConfiguration

    /// - Throws: `Failure` for an unknown user, or a stack that doesn't answer.
    package init(_ stack: Stack, _ reader: StackReader, user: String) throws {
        let observer = try ObserverQueries(stack, reader)
        zones = try observer.zones(of: user)
        let found = try observer.sources(user: user)
        self.user = user
        rows = found.rows
        groups = found.names
        leftOut = found.leftOut
        configuration = stack.configuration
    }

    package var types: Set<String> { Set(rows.map(\.type)) }

    /// The source that a person names by any name that it has had.
    /// - Throws: `Failure` (usage) with the nearest name.
    package func source(_ text: String) throws(Failure) -> String {
        let names = Set(rows.map(\.source)).union(groups.joined()).union(leftOut.map(\.source)).sorted()
        if let name = names.first(where: { $0 == text }) { return name }
        let alike = names.filter { $0.lowercased() == text.lowercased() }
        if alike.count == 1, let name = alike.first { return name }
        throw .usage(
            "\(user) has no samples of a source '\(text)'", hint: Nearest.hint(for: text, among: names))
    }

    /// Whether there is a rule for the same source and type.
    package func isLeftOut(_ rule: LeftOutSource) -> Bool {
        let names = group(of: rule.source)
        return leftOut.contains { $0.type == rule.type && names.contains($0.source) }
    }

    /// How many samples a rule concerns.
    package func count(_ rule: LeftOutSource) -> Int64 {
        let names = Set(group(of: rule.source))
        return rows.filter { names.contains($0.source) && Self.isOf(rule, $0.type) }.reduce(0) { $0 + $1.samples }
    }

    package func start(of day: LocalDay) -> Instant? { zones.ranges(of: day).first?.lowerBound }

    private func group(of source: String) -> [String] { groups.first { $0.contains(source) } ?? [source] }

    private static func isOf(_ rule: LeftOutSource, _ type: String) -> Bool {
        guard let wanted = rule.type else { return true }
        return wanted == type || HealthType.base(ofStatistics: type) == wanted
    }

    // MARK: Rows

    /// One row for each source.
    private var sources: [Row] {
        merged(rows) { [$0.source] }.sorted { ($1.samples, $0.source) < ($0.samples, $1.source) }
    }

    /// One row for each source of each type, in the order in which its samples count.
    private func byType(_ only: String?) -> [Row] {
        let chosen = rows.filter { only == nil || only == $0.type || HealthType.base(ofStatistics: $0.type) == only }
        var found: [Row] = []
        for (type, rows) in Dictionary(grouping: chosen, by: \.type).sorted(by: { $0.key < $1.key }) {
            let order = order(of: type)
            let rows = merged(rows) { [$0.source] }.sorted { a, b in
                (rank(a, order), a.source) < (rank(b, order), b.source)
            }
            found += rows.enumerated().map { index, row in
                var row = row
                if order != nil { row.place = index + 1 }
                return row
            }
        }
        return found
    }

    /// The order of a type's sources; nil where it decides nothing.
    private func order(of type: String) -> SourceOrder? {
        let known = HealthType.named(type)
        guard known.style == .cumulative || type == HealthType.sleepIdentifier else { return nil }
        let names = configuration.handler(of: type)?.configuration["sourceOrder"][type].array ?? []
        return SourceOrder(names.compactMap(\.string))
    }

    private func rank(_ row: Row, _ order: SourceOrder?) -> Int {
        var origin = Origin(sourceName: row.source, sourceVersion: "", productType: row.product, device: "")
        origin.otherNames = group(of: row.source).filter { $0 != row.source }
        return order?.rank(origin: origin, userEntered: false) ?? 0
    }

    private func merged(_ rows: [SourcesPage.Row], by key: (SourcesPage.Row) -> [String]) -> [Row] {
        var found: [[String]: Row] = [:]
        for part in rows {
            let names = group(of: part.source)
            var row =
                found[key(part)]
                ?? Row(
                    source: part.source, product: part.product, types: [],
                    leftOut: leftOut.filter { names.contains($0.source) })
            row.types.insert(part.type)
            row.samples += part.samples
            row.first = min(row.first, part.firstStart)
            row.last = max(row.last, part.lastStart)
            if row.product.isEmpty { row.product = part.product }
            found[key(part)] = row
        }
        return found.values.map { row in
            var row = row
            row.leftOut.removeAll { rule in !row.types.contains { Self.isOf(rule, $0) } }
            return row
        }
    }

    // MARK: Output

    /// - Parameter type: HealthKit's identifier, to see the sources of one type in their order; nil for all sources.
    package func json(type: String?) -> String {
        let shown = byType(type).map { row -> Value in
            [
                "source": .string(row.source), "names": .array(group(of: row.source).map { .string($0) }),
                "product": .string(row.product), "type": .string(row.types.first ?? ""),
                "samples": .integer(row.samples),
                "first": .string(InstantText.iso8601(row.first)), "last": .string(InstantText.iso8601(row.last)),
                "order": Value(row.place), "leftOut": .array(row.leftOut.map(Self.json)),
            ]
        }
        return Value.object(["user": .string(user), "sources": .array(shown)]).json(pretty: true)
    }

    private static func json(_ rule: LeftOutSource) -> Value {
        [
            "type": Value(rule.type), "from": Value(rule.from.map { InstantText.iso8601($0) }),
            "figuresOnly": .bool(rule.figuresOnly == true),
        ]
    }

    package func text(type: String?, for terminal: Terminal) -> String {
        let shown = type == nil ? sources : byType(type)
        guard !shown.isEmpty else {
            return type.map { "No source has samples of \($0).\n" } ?? "There are no samples.\n"
        }
        var table = Table(
            [.init("Source")] + (type == nil ? [.number("Types", givesWay: 2)] : [.number("Order")])
                + [
                    .number("Samples"), .init("First", givesWay: 3), .init("Last"), .init("Device", givesWay: 1),
                    .init("Left out"),
                ])
        for row in shown {
            let others = group(of: row.source).filter { $0 != row.source }
            table.add([
                row.source + (others.isEmpty ? "" : " (also \(others.joined(separator: ", ")))"),
                type == nil ? "\(row.types.count)" : row.place.map { "\($0)" } ?? "",
                HumanFormat.count(Int(row.samples)), "\(zones.day(of: row.first))", "\(zones.day(of: row.last))",
                row.product, row.leftOut.map { words($0) }.joined(separator: "; "),
            ])
        }
        return table.render(for: terminal)
    }

    /// "StepCount from 2025-01-01, of figures only".
    package func words(_ rule: LeftOutSource) -> String {
        var words = rule.type.map { TypeName.short($0) } ?? "everything"
        if let from = rule.from { words += " from \(zones.day(of: from))" }
        return words + (rule.figuresOnly == true ? ", of figures only" : "")
    }
}

extension ObserverQueries {
    /// A user's living samples by source and type, and the rules.
    func sources(user: String) throws -> (rows: [SourcesPage.Row], leftOut: [LeftOutSource], names: [[String]]) {
        struct Key: Hashable {
            var type: String
            var source: String
            var product: String
        }
        var found: [Key: SourcesPage.Row] = [:]
        var rules: [LeftOutSource] = []
        var names: [[String]] = []
        try all({ .sources(user: user, after: $0) }, next: \SourcesPage.continue) { page in
            (rules, names) = (page.leftOut, page.names[user] ?? names)
            for row in page.sources {
                let key = Key(type: row.type, source: row.source, product: row.product)
                guard var held = found[key] else {
                    found[key] = row
                    continue
                }
                held.samples += row.samples
                held.firstStart = min(held.firstStart, row.firstStart)
                held.lastStart = max(held.lastStart, row.lastStart)
                found[key] = held
            }
        }
        return (Array(found.values), rules, names)
    }

    /// The rules alone.
    func leftOut(of user: String) throws -> [LeftOutSource] {
        let pages = try reader.pages(observer, .sources(user: user, after: .end))
        return pages.first?.content.leftOut ?? []
    }
}
