import Configuration
import HealthModel
import Inspection
import Logging
import Protocol

/// A figure that can be explained, with the names that people use for it, the samples it comes from, and its place in a
/// day.
package struct ExplainedMetric: Sendable, Equatable {
    package typealias Kind = FigureDeclaration.Rule

    /// The short name, or the type's identifier.
    package let name: String
    /// HealthKit's identifier.
    package let type: String
    package let kind: Kind
    /// The figure's path in a day's summary.
    package let path: [String]
    package let unit: String
    /// The figure includes only samples in this unit; nil if it includes samples in any unit.
    package let onlyUnit: String?

    /// Whether its numbers are fractions that people see as percentages.
    package var isFraction: Bool { HealthType.named(type).isFraction && onlyUnit == nil && kind != .count }

    /// - Parameters:
    ///   - text: a short name, a member of `days --json`, a column of `days` or the views, or a type's identifier with
    ///     or without its prefix; case doesn't matter.
    ///   - figures: figures that have names of their own.
    ///   - held: the types in the store, whether known or not.
    ///   - own: the person's own types.
    /// - Throws: `Failure` (usage) that suggests the nearest name.
    package init(
        _ text: String, figures: [FigureDeclaration], held: Set<String> = [], own: [OwnTypeRow] = []
    ) throws(Failure) {
        let word = text.lowercased()
        let named = figures.compactMap { figure in figure.explanation.map { (figure: figure, how: $0) } }
        let found = named.first { figure, how in
            (how.names + [figure.path[0], figure.path.joined(separator: "."), how.type, TypeName.bare(how.type)])
                .contains {
                    $0.lowercased() == word
                }
        }
        let types = held.union(HealthType.allKnown.keys)
        let identifier = types.sorted().first { $0.lowercased() == word || TypeName.bare($0).lowercased() == word }
        let others = FigureNames(figures)
        // A type with that name takes precedence over a column, because a person chooses the names of types.
        let seen = identifier == nil ? named.first { others.isSeen($0.figure, as: word) } : nil
        if let (figure, how) = found ?? seen {
            (name, type, kind, path, unit) = (how.names[0], how.type, how.rule, figure.path, figure.unit)
            onlyUnit = nil
            return
        }
        guard let identifier else {
            let known =
                Self.own(figures) + named.flatMap { [$0.how.names[0], $0.figure.path[0]] + $0.how.names.dropFirst() }
                + types.map(TypeName.bare) + figures.compactMap { others.others(of: $0).first }
            throw Self.unknown(
                text, nearest: Nearest.to(word, among: known.map { $0.lowercased() }), among: known,
                names: Self.names(of: figures))
        }
        if let own = own.first(where: { $0.name == identifier }) {
            let (rule, member) = Self.rule(of: own)
            (type, name, kind, path) = (identifier, identifier, rule, ["other", identifier, member])
            unit = rule == .count ? "count" : own.unit
            onlyUnit = rule == .count ? nil : own.unit
            return
        }
        let type = HealthType.named(identifier)
        self.type = identifier
        name = identifier
        onlyUnit = nil
        switch type.kind {
        case .workout, .correlation:
            throw .usage("\(identifier) has no figure to explain", hint: "name the type of one of its parts")
        case .category:
            (kind, path, unit) = (.count, ["other", identifier, "count"], "count")
        case .other where identifier == HealthType.medicationDoseIdentifier:
            (kind, path, unit) = (.count, ["other", identifier, "count"], "count")
        default:
            kind = type.style == .cumulative ? .total : .average
            path = ["other", identifier, type.style == .cumulative ? "sum" : "average"]
            unit = type.unit
        }
    }

    /// The short names that `explain` knows besides types.
    package static func names(of figures: [FigureDeclaration]) -> [String] {
        figures.compactMap { $0.explanation?.names[0] } + own(figures)
    }

    /// Figures whose rules only their handlers know.
    private static func own(_ figures: [FigureDeclaration]) -> [String] {
        figures.filter { $0.explanation == nil && $0.form != .object }.map { $0.path.joined(separator: ".") }
    }

    /// How a person's own type is aggregated, and the name of the figure, which is nested under the type's name.
    private static func rule(of own: OwnTypeRow) -> (Kind, String) {
        switch own.aggregation {
        case "sum": (.total, "sum")
        case "average": (.average, "average")
        case "latest": (.latest, "mostRecent")
        default: (.count, "count")
        }
    }

    private static func unknown(_ text: String, nearest: String?, among known: [String], names: [String]) -> Failure {
        let meant = nearest.flatMap { nearest in known.first { $0.lowercased() == nearest } }
        return .usage(
            "'\(text)' isn't a metric",
            hint: (meant.map { "did you mean \($0)? " } ?? "") + "metrics are \(names.joined(separator: ", ")), "
                + "and HealthKit's types, such as DistanceCycling")
    }

    /// Whether a given row of a slice may contribute to the figure.
    func takes(_ row: Int, of samples: SamplePage) -> Bool {
        guard let onlyUnit, samples.typeName(row) == type, samples.unit.count == samples.count else { return true }
        return samples.units[Int(samples.unit[row])] == onlyUnit
    }

    /// The figure in a day's summary; if no handler in the stack declares it, it is under `other`.
    package func figure(in summary: Value) -> Double? {
        func value(_ path: [String]) -> Double? { path.reduce(summary) { $0[$1] }.double }
        if kind == .workouts || kind == .visits {
            // A missing list and an empty one mean the same.
            return summary[path[0]].array.flatMap { $0.isEmpty ? nil : Double($0.count) }
        }
        return value(path) ?? value(["other", type, "sum"])
            ?? value(["other", type, kind == .count ? "count" : "average"])
    }
}

extension ExplainedMetric {
    /// Why `explain` can't work with these words: the only one is a date, so the metric was left out; nil otherwise.
    package static func mistake(_ words: [String]) -> Failure? {
        guard words.count == 1, let word = words.first, SpokenDates(word, today: LocalDay(number: 0)) != nil else {
            return nil
        }
        let date = LocalDay(word).map(\.description) ?? "2025-03-30"
        return .usage(
            "<figure> is missing: \(word) is a date",
            hint: "name a figure before it, as in 'healthbus explain steps \(date)'")
    }
}
