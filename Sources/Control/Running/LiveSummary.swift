import Clocks
import HealthModel
import Monitoring
import Protocol
import Terminal

/// What a running stack is doing, on one line for whoever watches `up`. Pure.
package struct LiveSummary {
    /// - Parameter stopped: instances that a person has stopped; these aren't waited for.
    package static func line(_ table: TopTable, stopped: Set<String>) -> String {
        let ready = table.processes.count { $0.state == "ready" }
        var parts = ["\(ready) of \(table.processes.count) ready"]
        if !stopped.isEmpty { parts.append("\(stopped.count) stopped") }
        let total = table.total
        if let rate = total.rows, rate >= 1 { parts.append("\(HumanFormat.count(Int(rate))) rows/s") }
        if let behind = total.behind, behind > 0 { parts.append("\(HumanFormat.count(Int(behind))) changes behind") }
        if table.pendingDays > 0 { parts.append(HumanFormat.count(Int(table.pendingDays), "day") + " to compute") }
        if let memory = total.memory { parts.append(HumanFormat.bytes(Int(memory))) }
        let isWhole = table.processes.allSatisfy { $0.state == "ready" || stopped.contains($0.name) }
        if isWhole, (total.behind ?? 0) == 0, table.pendingDays == 0 { parts.append("nothing waiting") }
        return parts.joined(separator: ", ") + ". Ctrl-C stops it"
    }
}
