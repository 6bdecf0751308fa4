import HealthModel
import Protocol
import Synchronization

/// What a tap says besides messages: why data is held back, since no message shows that. Pure.
package struct HeldBackNotes {
    package enum News: Sendable, Equatable {
        /// A reason that has lasted for a second; said once.
        case heldBack(String)
        /// A reason that was said is gone.
        case goesOn
    }

    private let type: String?
    private let (observer, debouncer): (String, String?)
    private var observed: Heartbeat?
    /// By instance: the reason in its latest heartbeat, since when, and whether that was said.
    private var reasons: [String: (text: String, since: Instant, isSaid: Bool)] = [:]

    private static let patience = Duration.seconds(1)

    /// - Parameters:
    ///   - type: only this type's changes matter; nil for all.
    ///   - observer: the instance's name, as is `debouncer`.
    package init(type: String?, observer: String, debouncer: String?) {
        self.type = type
        (self.observer, self.debouncer) = (observer, debouncer)
    }

    /// - Returns: nil for no news.
    package mutating func heard(_ message: Message) -> News? {
        guard let beat = Heartbeat(message), beat.instance == observer || beat.instance == debouncer else { return nil }
        if beat.instance == observer { observed = beat }
        let now = message.header.at
        let reason =
            beat.instance == observer
            ? HeldBack.firing(of: type, beat) : HeldBack.waiting(beat, observer: observed)
        let old = reasons[beat.instance]
        guard let reason else {
            reasons[beat.instance] = nil
            return old?.isSaid == true ? .goesOn : nil
        }
        guard let old, old.text == reason else {
            reasons[beat.instance] = (reason, now, false)
            return nil
        }
        guard !old.isSaid, now - old.since >= Self.patience else { return nil }
        reasons[beat.instance]?.isSaid = true
        return .heldBack(reason)
    }
}

/// How many messages are still wanted; usable from any thread.
package final class Countdown: Sendable {
    private let left: Mutex<Int>

    package init(_ count: Int) { left = Mutex(count) }

    /// Returns false when no more are wanted.
    package func take() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }

    package var isOver: Bool { left.withLock { $0 == 0 } }
}
