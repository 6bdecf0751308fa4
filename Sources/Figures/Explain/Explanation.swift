import HealthModel
import Inspection
import Terminal

/// How a figure for a day is derived. It is pure: computed only from the handler's own input.
protocol Explanation {
    /// The figure that results from the samples; nil if there are none.
    var result: Double? { get }
    /// What `--json` contains besides the figure.
    var members: [String: Value] { get }
    /// How it was computed, in a sentence.
    var rule: String { get }
    /// The result in words; nil when no sample contributes to it.
    func headline(_ unit: String) -> String?
    /// Members of the day's summary that result from the samples, if the figure is more than a number.
    var figures: [String: Value] { get }
    /// How many statistics count, if not all of them do.
    var statistics: Int? { get }
    /// Tables for people, in order, each with the line below it.
    func tables(_ shown: ExplainOptions, _ clock: DayClock) -> [ExplainTable]
}

extension Explanation {
    func headline(_ unit: String) -> String? { result.map { "\(ShownNumber.exact($0)) \(unit)" } }
    var figures: [String: Value] { [:] }
    var statistics: Int? { nil }
}

/// What `explain` shows.
package struct ExplainOptions: Sendable {
    /// Shows hours instead of intervals.
    package var byHour: Bool
    /// Shows every interval and sample separately, however many there are.
    package var all: Bool

    package init(byHour: Bool = false, all: Bool = false) { (self.byHour, self.all) = (byHour, all) }
}

struct ExplainTable {
    var table: Table
    /// The number of rows that a screen shows; nil means all.
    var rowsOnScreen: Int?
    var footer: String?

    /// A screen shows only the first rows and a line that says so; a pipe gets all rows.
    func render(for terminal: Terminal, all: Bool, how: String = "--all shows them all, as does a pipe")
        -> String
    {
        var shown = table
        var more = ""
        if let limit = rowsOnScreen, terminal.isTerminal, !all, table.rows.count > limit {
            shown = Table(table.columns)
            for row in table.rows.prefix(limit) { shown.add(row) }
            more = "… and \(table.rows.count - limit) more rows: \(how)\n"
        }
        return shown.render(for: terminal) + more + (footer.map { $0 + "\n" } ?? "")
    }
}
