import Client
import Configuration
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

/// `healthbus explain` for a figure whose rule is known only to its handler, such as one of your own: it shows the
/// value, the handler that computed it, and the samples used.
///
/// It prints health values, because the person asked for them.
package struct OwnFigureReport {
    private let figure: FigureDeclaration
    private let handler: StackConfiguration.Instance
    private let day: LocalDay
    private let user: String
    private let clock: DayClock
    private let summary: Value
    /// The day's samples, by type.
    private let samples: [(type: String, count: Int)]
    /// What the handler reports about a day that it can't compute.
    private let failure: String?

    private var name: String { figure.path.joined(separator: ".") }
    private var computed: Value { figure.path.reduce(summary) { $0[$1] } }

    /// - Returns: nil if no handler in the stack declares such a figure, or if the figure can be explained by its rule.
    /// - Throws: `Failure` for an unknown user or a stack that doesn't answer.
    package init?(_ stack: Stack, metric text: String, day: LocalDay, user: String) throws {
        guard let (handler, figure) = Self.declared(text, in: stack.configuration) else { return nil }
        let reader = stack.reader()
        let observer = try ObserverQueries(stack, reader)
        let zones = try observer.zones(of: user)
        guard !zones.ranges(of: day).isEmpty else {
            throw Failure.usage("\(day) isn't in this calendar: a flight or a change of zone skipped it")
        }
        (self.figure, self.handler, self.day, self.user) = (figure, handler, day, user)
        clock = DayClock(zones, day)
        summary = try ExplainReport.summary(stack, reader, user: user, day: day)
        let types = handler.manifest.sampleTypes.filter { $0 != "*" }
        let slice = zones.slice(of: day, .localDay)
        let input = DayInput(
            user: user, day: day, window: .localDay, zones: zones,
            cutting: types.isEmpty
                ? SamplePage()
                : try observer.samples(
                    user: user, types: types, from: slice.map(\.lowerBound).min() ?? .epoch,
                    to: slice.map(\.upperBound).max() ?? .epoch),
            configuration: handler.configuration)
        var counts: [String: Int] = [:]
        for index in input.samples.ids.indices { counts[input.samples.typeName(index), default: 0] += 1 }
        samples = types.compactMap { type in
            // Statistics exist only where apps push them, so they are left out when there are none.
            counts[type] == nil && !(handler.manifest.types + handler.manifest.reads).contains(type)
                ? nil : (type, counts[type] ?? 0)
        }
        failure = try reader.rows(handler, topic: Alert.topic(.failedDays)).last?.body?.read(RaisedAlert.self)?.text
    }

    /// Finds the figure by its name, by its column's name, or by the name of a handler's instance that has no other
    /// figure.
    package static func declared(
        _ text: String, in stack: StackConfiguration
    ) -> (StackConfiguration.Instance, FigureDeclaration)? {
        let word = stack.metric(text).lowercased()
        let others = FigureNames(stack.figures)
        let own = stack.handlers.flatMap { handler in
            handler.manifest.figures.filter { $0.explanation == nil }.map { (handler, $0) }
        }
        return own.first { $0.1.path.joined(separator: ".").lowercased() == word }
            ?? own.first { _, figure in others.isSeen(figure, as: word) && !isRule(word, in: stack) }
    }

    /// Whether this is the name of a figure with a known rule; if so, that figure is meant.
    private static func isRule(_ word: String, in stack: StackConfiguration) -> Bool {
        stack.figures.contains { figure in
            guard let how = figure.explanation else { return false }
            return ([figure.path[0]] + how.names).contains { $0.lowercased() == word }
        }
    }

    /// `{metric, unit, user, date, zone, handler, plugin, figure, final, revision, samples: {type: count}, failure}`.
    package var json: String { value.json(pretty: true) }

    package var value: Value {
        [
            "metric": .string(name), "unit": .string(figure.unit), "user": .string(user),
            "date": .string(day.description), "zone": .string(clock.zoneNames), "handler": .string(handler.name),
            "plugin": .string(handler.manifest.file), "figure": computed, "final": summary["final"],
            "revision": summary["revision"],
            "samples": .object(
                samples.reduce(into: [:]) { $0[$1.type] = .integer(Int64($1.count)) }),
            "failure": Value(failure),
        ]
    }

    /// The same with a percentage as people see it.
    package var shownValue: Value {
        figure.isFraction ? ShownFraction.percent(["figure"], in: value) : value
    }

    package func text(for terminal: Terminal) -> String {
        let unit = figure.unit.isEmpty ? "" : " " + figure.unit
        var text = "\(name) on \(day), \(clock.zoneNames): "
        if computed.isNull {
            text += "none\nThe day's summary has no '\(name)'.\n"
        } else {
            let shown =
                computed.double.map {
                    ShownNumber.exact(figure.isFraction ? ShownFraction.percent($0) : $0)
                } ?? computed.json()
            text += terminal.styled(shown + unit, .bold) + "\n"
            text += "That is the day's figure, \(ExplainReport.state(of: summary)).\n"
        }
        let program = handler.manifest.exec.map { "\($0.words.joined(separator: " ")) in \($0.folder)" }
        text +=
            "'\(handler.name)' computes it by its own rule (\(program ?? handler.manifest.executable)), which only that program knows.\n"
        if let failure { text += "It fails: \(failure)\n" }
        guard !samples.isEmpty else { return text }
        var table = Table([.init("Type"), .number("Samples of the day")])
        for (type, count) in samples { table.add([TypeName.bare(type), "\(count)"]) }
        return text + "\n" + table.render(for: terminal)
    }
}

extension StackConfiguration {
    /// If the text names a handler's instance that declares only one figure, that figure's name; otherwise the text
    /// itself.
    package func metric(_ text: String) -> String {
        let word = text.lowercased()
        let isTaken = figures.contains { figure in
            let names = [figure.path[0], figure.path.joined(separator: ".")] + (figure.explanation?.names ?? [])
            return names.contains { $0.lowercased() == word }
        }
        guard !isTaken, let handler = handlers.first(where: { $0.name == word }),
            let figure = handler.manifest.figures.first, handler.manifest.figures.count == 1
        else { return text }
        return figure.path.joined(separator: ".")
    }
}
