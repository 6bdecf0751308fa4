import Client
import Clocks
import Foundation
import HealthModel
import Inspection
import Logging
import Synchronization
import Terminal

/// Reports what a command is waiting for, once nothing has moved for a while, since somebody watching a silent command
/// can't see whether it is working.
package final class WaitReporter: Sendable {
    private struct State {
        var waits: [String] = []
        var movedAt = MonotonicClock.now
        /// Since when each silent instance has been silent, by the wall clock.
        var silentSince: [String: Instant] = [:]
        var said = ""
        var isOver = false
    }

    private let state = Mutex(State())
    private let client: StackClient
    private let names: [String]
    private let began = WallClock.now
    /// The text goes to both streams, so it is shortened only if both are terminals.
    private let terminal = Terminal(.output).isTerminal ? Terminal(.error) : Terminal(.output)
    private let report: @Sendable (String) -> Void

    /// How long to wait before anything is reported.
    private static let patience = Duration.seconds(4)

    /// - Parameter names: the instances whose silence is reported.
    init(_ client: StackClient, names: [String], report: @escaping @Sendable (String) -> Void) {
        (self.client, self.names, self.report) = (client, names, report)
        Thread.begin("waiting") { [self] in
            while !state.withLock({ $0.isOver }) {
                look()
                Thread.sleep(forTimeInterval: 0.5)
            }
        }
    }

    func stop() { state.withLock { $0.isOver = true } }

    /// - Parameter hasMoved: whether anything has moved since the last report.
    func waits(for what: [String], hasMoved: Bool) {
        state.withLock { state in
            state.waits = what
            if hasMoved { state.movedAt = MonotonicClock.now }
        }
    }

    /// Which processes are silent, and since when, in the order in which the stack lists them. Those that a person stopped
    /// are left out: where that matters, it is among what is waited for.
    func silent(besides reported: [SyncClient.Silence] = []) -> [String] {
        let now = WallClock.now
        let left = SyncClient.stopped(client.heartbeats).union(reported.map(\.name))
        return state.withLock { state in
            names.filter { !left.contains($0) }.compactMap { name in
                state.silentSince[name].map { Self.text(name, since: $0, began: began, now: now, for: terminal) }
            }
        }
    }

    /// For example "steps hasn't reported since 14:05:10"; the time is given in full if the text isn't for a screen.
    /// Pure.
    package static func text(
        _ name: String, since: Instant, began: Instant, now: Instant, for terminal: Terminal
    ) -> String {
        since <= began
            ? "\(name) hasn't reported at all since this began, at \(terminal.second(began, now: now))"
            : "\(name) hasn't reported since \(terminal.second(since, now: now))"
    }

    private func look() {
        // A process with nothing to do rarely reports, but when asked, it answers at once if it can.
        client.hello()
        let beats = client.heartbeats
        let now = WallClock.now
        state.withLock { state in
            for name in names {
                let age = beats[name]?.age ?? (now - began).seconds
                if age < SyncClient.silence {
                    state.silentSince[name] = nil
                } else if state.silentSince[name] == nil {
                    state.silentSince[name] = beats[name] == nil ? began : now - .microseconds(Int64(age * 1e6))
                }
            }
        }
        let silent = silent()
        state.withLock { state in
            guard !state.isOver, MonotonicClock.now - state.movedAt >= Self.patience else { return }
            let what = silent.isEmpty ? state.waits : silent
            let text = "waiting: " + (what.isEmpty ? "the stack hasn't answered yet" : what.joined(separator: "; "))
            guard text != state.said else { return }
            state.said = text
            report(text)
        }
    }
}
