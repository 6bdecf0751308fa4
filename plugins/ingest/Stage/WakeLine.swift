import Clocks
import Dispatch
import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization

/// The connection to the debouncer, which counts wakes and syncs: says each one until the debouncer's heartbeat has what
/// became of it.
package final class WakeLine: Sendable {
    private struct Waiting {
        var wake: DebouncerDetails.Wake?
        let arrived = DispatchSemaphore(value: 0)
    }

    /// How many callers may wait for the end of a sync at a time: each takes up one of the server's threads.
    package static let waiters = 2
    /// The time an app has for a silent push on iOS.
    package static let longestWait = Duration.seconds(30)

    private let say: @Sendable (WakeApp) -> Void
    /// By id.
    private let waiting = Mutex<[String: Waiting]>([:])
    private let waiters = Mutex(0)
    private let lastBeat = Mutex(MonotonicTime.distantPast)
    private let repeatAfter: Duration
    private let patience: Duration

    /// - Parameters:
    ///   - patience: how long the debouncer may take to decide.
    ///   - say: sends the command; it may be lost.
    package init(
        repeatAfter: Duration = .milliseconds(500), patience: Duration = .seconds(5),
        say: @escaping @Sendable (WakeApp) -> Void
    ) {
        (self.repeatAfter, self.patience, self.say) = (repeatAfter, patience, say)
    }

    /// Accepts the debouncer's heartbeat. Any thread may call it.
    package func hear(_ wakes: [DebouncerDetails.Wake]) {
        lastBeat.withLock { $0 = MonotonicClock.now }
        waiting.withLock { waiting in
            for wake in wakes {
                guard let entry = waiting[wake.id], entry.wake != wake else { continue }
                waiting[wake.id]?.wake = wake
                entry.arrived.signal()
            }
        }
    }

    /// Wakes the app, and waits for the outcome: for at most `wait`, once the debouncer has decided.
    /// - Returns: what is known at the end; nil when the debouncer doesn't answer, so that the wake may or may not have
    ///   arrived.
    func wake(sender: String, wait: Duration) -> (wake: DebouncerDetails.Wake, hasWaited: Bool)? {
        guard MonotonicClock.now - lastBeat.withLock({ $0 }) < Repetition.silence else { return nil }
        let mayWait =
            wait > .zero
            && waiters.withLock { count in
                guard count < Self.waiters else { return false }
                count += 1
                return true
            }
        defer { if mayWait { waiters.withLock { $0 -= 1 } } }
        let command = WakeApp(id: UUID().uuidString.lowercased(), sender: sender)
        let arrived = waiting.withLock { waiting in
            let entry = Waiting()
            waiting[command.id] = entry
            return entry.arrived
        }
        defer { waiting.withLock { $0[command.id] = nil } }
        let began = MonotonicClock.now
        while true {
            let known = waiting.withLock { $0[command.id]?.wake }
            let isDone = known.map { !mayWait || $0.result != nil || $0.next != nil } ?? false
            let left = (known == nil ? patience : min(wait, Self.longestWait)) - (MonotonicClock.now - began)
            if isDone || left <= .zero { return known.map { ($0, mayWait) } }
            // Said again even once it is known: a debouncer that has been restarted has forgotten what it waited for.
            say(command)
            _ = arrived.wait(timeout: .now() + min(repeatAfter, left).seconds)
        }
    }
}
