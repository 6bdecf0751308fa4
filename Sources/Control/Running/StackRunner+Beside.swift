import Client
import Clocks
import Foundation
import HealthModel
import Inspection
import MessageBus
import Monitoring
import Synchronization
import Terminal

/// Threads that run alongside the supervisor.
extension StackRunner {
    /// Stops all processes when their files are gone. Anything that the processes received after that would be lost
    /// when the last of them ends.
    func watchFolders(_ running: Running) {
        Thread.begin("folders") { [self] in
            var watch = FolderWatch(stack.state, stack.configuration)
            while running.goesOn {
                // Wakes at the same moments as an idle stack's heartbeats, so that the machine wakes up once for all of
                // them.
                let now = MonotonicClock.now
                Thread.sleep(forTimeInterval: (Repetition.next(Repetition.quiet, after: now) - now).seconds)
                guard let problem = watch.problem(ready: state.withLock { $0.ready }) else { continue }
                state.withLock { if $0.failure == nil { $0.failure = problem } }
                return running.stop()
            }
        }
    }

    /// Shows what the stack is doing on the terminal's lowest line, every second.
    func summarize(_ client: StackClient, _ running: Running) {
        Thread.begin("summary") { [stack] in
            var before: TopSample?
            while running.goesOn {
                let now = TopSample(
                    names: stack.names, beats: client.heartbeats, now: WallClock.now, monotonic: MonotonicClock.now)
                let sample = before.map { now.following($0) } ?? now
                LiveLine.error.rest(LiveSummary.line(TopTable(sample), stopped: running.director.stopped))
                before = sample
                Thread.sleep(forTimeInterval: 1)
            }
        }
    }
}

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
