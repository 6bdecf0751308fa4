import Changelog
import Client
import Configuration
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

/// `healthbus explain`: why a day's figure is what it is, derived from the samples, order and configuration that its
/// handler uses.
///
/// It prints health values, because that is what the person asked for.
package struct ExplainReport {
    package let metric: ExplainedMetric
    package let day: LocalDay
    private let user: String
    private let clock: DayClock
    private let window: [Range<Instant>]
    /// The handler that computes the figure, which isn't always the handler that the samples belong to.
    private let handler: StackConfiguration.Instance
    private let summary: Value
    private let explained: ExplainedDay
    /// Names of the sources of which samples of the type are left out.
    private let leftOut: [String]
    /// How many of the elements that count are statistics.
    private let statistics: Int
    private var explanation: any Explanation { explained.explanation }

    /// - Throws: `Failure` for an unknown metric, user or date, or a stack that doesn't answer.
    package init(_ stack: Stack, _ reader: StackReader, metric text: String, day: LocalDay, user: String) throws {
        let observer = try ObserverQueries(stack, reader)
        let zones = try observer.zones(of: user)
        metric = try ExplainedMetric(
            stack.configuration.metric(text), figures: stack.configuration.figures, held: try observer.types(of: user),
            own: try EntriesReport(stack, reader, user: user).types)
        guard let typeHandler = stack.configuration.handler(of: metric.type) else {
            throw Failure(
                "no handler of this stack takes \(metric.type)", hint: "name one in \(stack.configuration.file)")
        }
        guard !zones.ranges(of: day).isEmpty else {
            throw Failure.usage("\(day) isn't in this calendar: a flight or a change of zone skipped it")
        }
        (self.day, self.user) = (day, user)
        handler = stack.configuration.handler(computing: metric) ?? typeHandler
        clock = DayClock(zones, day)
        let traits = ExplainedDay.traits(of: metric)
        let window = try traits.window(typeHandler.configuration)
        let slice = zones.slice(of: day, window)
        let types = [metric.type, HealthType.statistics(of: metric.type)] + traits.during.keys.sorted()
        let watches = traits.characteristics.contains("conditions")
        let held = try observer.samples(
            user: user, types: types + (watches ? typeHandler.manifest.reads : []),
            from: slice.map(\.lowerBound).min() ?? .epoch, to: slice.map(\.upperBound).max() ?? .epoch,
            detailed: traits.detailedTypes, during: traits.during)
        let metric = metric
        let input = DayInput(
            user: user, day: day, window: window, zones: zones,
            cutting: metric.onlyUnit == nil ? held : held.filter { metric.takes($0, of: held) },
            configuration: typeHandler.configuration,
            characteristics: watches ? ["conditions": try reader.conditions(of: typeHandler, user: user)] : [:])
        self.window = input.window
        let end = input.window.map(\.upperBound).max() ?? .distantPast
        leftOut = try observer.leftOut(of: user).filter {
            ($0.type ?? metric.type) == metric.type && $0.from.map { $0 < end } ?? true
        }.map(\.source).sorted()
        let (samples, type) = (input.samples, metric.type)
        explained = try ExplainedDay(metric, input)
        statistics =
            explained.explanation.statistics
            ?? samples.ids.indices.filter {
                samples.flags[$0].contains(.statistics) && samples.typeName($0) == type
            }.count
        summary = try Self.summary(stack, reader, user: user, day: day)
    }

    package static func summary(_ stack: Stack, _ reader: StackReader, user: String, day: LocalDay) throws -> Value {
        guard let consolidator = stack.configuration.only(.consolidator) else { return .null }
        let pages = try reader.pages(
            consolidator, .day(user: user, day: day.number, topic: "daily.summary"))
        return pages.first?.rows.first?.body ?? .null
    }

    private var figure: Double? { metric.figure(in: summary) }
    private var agrees: Bool { explained.agrees(with: summary) }

    package var json: String { value.json(pretty: true) }

    package var value: Value {
        var members: [String: Value] = [
            "metric": .string(metric.name), "type": .string(metric.type), "unit": .string(metric.unit),
            "user": .string(user), "date": .string(day.description), "zone": .string(clock.zoneNames),
            "handler": .string(handler.name), "value": Value(explanation.result), "figure": Value(figure),
            "agrees": .bool(agrees), "final": summary["final"], "revision": summary["revision"],
            "rule": .string(explanation.rule), "statistics": .integer(Int64(statistics)),
            "leftOut": .array(leftOut.map { .string($0) }),
        ]
        members.merge(explanation.members) { $1 }
        return .object(members)
    }

    /// The same with percentages as people see them: 96.3 with the unit `%`, where `value` has 0.963.
    package var shownValue: Value {
        metric.isFraction ? ShownFraction.percent(["value", "figure", "min", "max", "average"], in: value) : value
    }

    package func text(_ shown: ExplainOptions, for terminal: Terminal) throws -> String {
        if shown.byHour, [.sleep, .count, .workouts, .visits].contains(metric.kind) {
            throw Failure.usage("\(metric.name) isn't kept by hour", hint: "leave out --hour")
        }
        let hours = window.reduce(0) { $0 + ($1.upperBound - $1.lowerBound).seconds } / 3600
        var text = "\(metric.name) on \(day), \(clock.zoneNames)"
        if hours != 24 { text += ", \(ShownNumber.short(hours)) hours" }
        guard let headline = explained.headline else {
            return text + "\nNo sample of \(metric.type) gives it a figure"
                + (agrees ? ".\n" : "; the summary still has \(figureText).\n") + leftOutText
        }
        text += ": \(terminal.styled(headline, .bold))\n"
        text +=
            agrees
            ? "That is the day's figure, \(state).\n"
            : "The day's summary has \(figureText), \(state): it hasn't been computed again yet, or \(handler.name) has rules of its own.\n"
        text += explanation.rule + "\n" + leftOutText
        if statistics > 0 {
            text +=
                "\(statistics) of what counts \(statistics == 1 ? "is a statistic" : "are statistics"): added up or "
                + "averaged by an app that sent no samples for that time.\n"
        }
        for table in explanation.tables(shown, clock.shown(on: terminal)) {
            text += "\n" + table.render(for: terminal, all: shown.all)
        }
        return text
    }

    private var leftOutText: String {
        leftOut.isEmpty
            ? "" : "Left out: \(leftOut.joined(separator: ", ")); 'healthbus sources' shows since when.\n"
    }

    private var figureText: String {
        guard let figure else {
            return explanation.figures.keys.contains { !summary[$0].isNull } ? "other details" : "none"
        }
        return figure == explanation.result
            ? "the same, but other details"
            : ShownNumber.exact(metric.isFraction ? ShownFraction.percent(figure) : figure)
    }

    private var state: String { Self.state(of: summary) }

    /// "final, revision 3".
    static func state(of summary: Value) -> String {
        let state = summary.read(SummaryState.self)
        return state?.final == true ? "final, revision \(state?.revision ?? 0)" : "not final yet"
    }
}

extension StackConfiguration {
    /// The handler that declares a given figure; nil if none does. If several do, the first by name, as in summaries.
    package func handler(computing metric: ExplainedMetric) -> Instance? {
        handlers.filter { $0.manifest.figures.contains { $0.path == metric.path } }.min { $0.name < $1.name }
    }
}
