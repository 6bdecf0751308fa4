import Foundation
import HealthModel
import Terminal

/// A table of processes as lines of text that fit a screen. Pure.
package struct TopView: Sendable {
    private let table: TopTable
    private let state: String

    /// - Parameter state: the stack's state folder, for the title.
    package init(_ table: TopTable, state: String) { (self.table, self.state) = (table, state) }

    /// - Parameter height: the maximum number of lines, if there is a screen; processes that don't fit are counted, and
    ///   those that need attention then come first.
    package func lines(for terminal: Terminal, height: Int? = nil) -> [String] {
        let now = InstantText.iso8601(Instant(seconds: table.now.flooredSecond))
        let time = terminal.isTerminal ? now.split(separator: "T").last ?? "" : now[...]
        let total = table.total
        var summary = [total.state]
        if let rows = total.rows { summary.append("\(count(rows)) rows/s") }
        if let behind = total.behind { summary.append("\(HumanFormat.count(Int(behind))) behind") }
        summary.append(HumanFormat.count(Int(table.pendingDays), "day") + " to compute")
        if let processor = total.processor { summary.append("CPU \(percent(processor)) %") }
        if let memory = total.memory { summary.append(HumanFormat.bytes(Int(memory))) }
        var lines = ["\(time)  \(state)", summary.joined(separator: ", "), ""]
        if terminal.isTerminal { lines = lines.map { DisplayWidth.truncated($0, to: terminal.width) } }
        lines[0] = terminal.styled(lines[0], .bold)

        var rows = table.rows
        var hidden = 0
        if let height, lines.count + 1 + rows.count > height {
            let room = max(0, height - lines.count - 2)
            hidden = rows.count - room
            // The order is stable: within each group, processes keep the stack's order.
            rows = Array((rows.filter { $0.state != "ready" } + rows.filter { $0.state == "ready" }).prefix(room))
        }
        lines += grid(rows).render(for: terminal).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map { String($0) }
        if hidden > 0 { lines.append("and \(hidden) more") }
        return height.map { Array(lines.prefix($0)) } ?? lines
    }

    private func grid(_ rows: [TopTable.Row]) -> Table {
        var grid = Table([
            .init("Process"), .init("State"), .number("In/s", givesWay: 4), .number("Out/s", givesWay: 3),
            .number("Rows/s"), .number("Behind"), .number("ms/turn", givesWay: 2), .number("CPU %"), .number("MB"),
            .number("Restarts", givesWay: 1), .number("Up", givesWay: 5),
        ])
        for row in rows {
            grid.add([
                row.name, row.state, row.received.map(count) ?? "", row.sent.map(count) ?? "",
                row.rows.map(count) ?? "", row.behind.map { HumanFormat.count(Int($0)) } ?? "",
                row.turn.map { Self.decimal($0, 1) } ?? "", row.processor.map(percent) ?? "",
                row.memory.map { "\(($0 + 500_000) / 1_000_000)" } ?? "", row.restarts.map { "\($0)" } ?? "",
                row.uptime.map(Self.span) ?? "",
            ])
        }
        return grid
    }

    /// A rate as a whole number; low rates get a decimal, so that they don't read as 0.
    private func count(_ rate: Double) -> String {
        rate > 0 && rate < 9.95 ? Self.decimal(rate, 1) : HumanFormat.count(Int(rate.rounded()))
    }

    private func percent(_ share: Double) -> String { Self.decimal(share * 100, 1) }

    private static func decimal(_ number: Double, _ digits: Int) -> String {
        number.formatted(.number.precision(.fractionLength(digits)).grouping(.never).locale(.init(identifier: "C")))
    }

    /// A short form: "12s", "3m", "4h05", "6d".
    private static func span(_ seconds: Double) -> String {
        let whole = Int(seconds)
        switch whole {
        case ..<60: return "\(whole)s"
        case ..<3600: return "\(whole / 60)m"
        case ..<86_400:
            let minutes = whole % 3600 / 60
            return "\(whole / 3600)h" + (minutes < 10 ? "0" : "") + "\(minutes)"
        default: return "\(whole / 86_400)d"
        }
    }
}
