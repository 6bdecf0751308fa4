import Configuration
import HealthModel
import HealthViews
import Logging

/// The figures that an answer contains, named like the columns of the views. Pure.
struct FigureChoice {
    struct Figure {
        let column: ViewColumn
        /// Empty if the figure has no unit.
        let unit: String
        /// Whether it is stored as a fraction and shown as a percentage.
        let isFraction: Bool
        /// Other names that people may use for it.
        let others: [String]

        var name: String { column.name }
        /// Whether the figure is a number; otherwise it is a list or an object.
        var isNumber: Bool { column.kind == .real }

        /// As shown to people: percentages are 96.3, not 0.963. Null if a day, or an hour of it, doesn't have the figure.
        func value(in summary: Value, hour: Int? = nil) -> Value {
            let value = column.value(in: summary, hour: hour)
            if isFraction { return ShownFraction.percent(value) }
            return name == "other" ? ShownFraction.percent(other: value) : value
        }

        fileprivate func isCalled(_ text: String) -> Bool {
            column.isCalled(text) || ([column.name] + others).contains { $0.lowercased() == text.lowercased() }
        }
    }

    let all: [Figure]

    /// - Parameter hourly: whether to take the figures that are kept by hour.
    init(_ figures: [FigureDeclaration], hourly: Bool) {
        let views = HealthViews(figures: figures)
        let place: Set = hourly ? ["user_id", "date", "hour", "start_date"] : Self.placeOfDays
        all = (views[hourly ? .hours : .days]?.columns ?? []).filter { !place.contains($0.name) }.map { column in
            let figure = figures.first { figure in
                hourly
                    ? figure.hourly.map(column.isCalled) ?? false
                    : column.isCalled(figure.path.joined(separator: "."))
            }
            return Figure(
                column: column, unit: figure?.unit ?? "", isFraction: figure?.isFraction ?? false,
                others: figure?.explanation?.names ?? [])
        }
    }

    private static let placeOfDays: Set = ["user_id", "date", "zone", "final", "revision", "version"]

    /// - Throws: `Failure` (usage) that suggests the nearest name.
    func named(_ names: [String]) throws(Failure) -> [Figure] {
        var chosen: [Figure] = []
        for name in names {
            guard let figure = all.first(where: { $0.isCalled(name) }) else {
                throw .usage(
                    "there is no figure \(name.prefix(100))",
                    hint: Nearest.hint(for: name, among: all.map(\.name), quoted: false))
            }
            if !chosen.contains(where: { $0.name == figure.name }) { chosen.append(figure) }
        }
        return chosen
    }

    func isKnown(_ name: String) -> Bool { all.contains { $0.isCalled(name) } }

    static func units(_ figures: [Figure]) -> Value {
        .object(Dictionary(figures.map { ($0.name, .string($0.unit)) }, uniquingKeysWith: { first, _ in first }))
    }
}
