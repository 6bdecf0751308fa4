import Changelog
import HealthModel

/// Which changes have been released to the consumers, and which wait for their type's window to close. Pure.
///
/// A type's window trails: it closes when nothing of that type has changed for its length, or when the first change has waited long enough. A window of 0
/// releases at once.
public struct ReleaseWindow: Sendable, Equatable {
    public struct Policy: Sendable, Equatable {
        /// Length of the trailing window, microseconds, for types that `byType` doesn't name.
        public var window: Instant
        /// The longest that a change waits, however often its type changes.
        public var maximumWait: Instant
        public var byType: [String: Instant]

        public init(window: Instant, maximumWait: Instant, byType: [String: Instant] = [:]) {
            self.window = window
            self.maximumWait = maximumWait
            self.byType = byType
        }

        func window(of type: String) -> Instant { byType[type] ?? window }

        /// Nothing ever waits: what is released follows from the head, and needs no record.
        public var isImmediate: Bool { window == 0 && byType.values.allSatisfy { $0 == 0 } }
    }

    struct Pending: Sendable, Equatable {
        var first: Instant
        var last: Instant
        var sequence: Int64
    }

    public let policy: Policy
    /// Up to where each type is released.
    public private(set) var released: AnchorVector
    private(set) var pending: [String: Pending] = [:]

    public init(policy: Policy, released: AnchorVector) {
        self.policy = policy
        self.released = released
    }

    public var pendingTypes: [String] { pending.keys.sorted() }

    /// A type has changed up to `sequence`. True when that released something at once.
    public mutating func changed(_ type: String, to sequence: Int64, at now: Instant) -> Bool {
        guard sequence > released[type] else { return false }
        let window = policy.window(of: type)
        if window == 0 {
            set(type, to: sequence)
            return true
        }
        if var waiting = pending[type] {
            if sequence > waiting.sequence {
                waiting.last = now
                waiting.sequence = sequence
                pending[type] = waiting
            }
        } else {
            pending[type] = Pending(first: now, last: now, sequence: sequence)
        }
        return false
    }

    /// The observer's head and all its heads by type, from one read. The types that were released at once.
    public mutating func heard(head: Int64, heads: [String: Int64], at now: Instant) -> [String] {
        var atOnce: [String] = []
        for (type, sequence) in heads where changed(type, to: sequence, at: now) { atOnce.append(type) }
        // What isn't waiting has nothing between its release and the head.
        guard head > released.base else { return atOnce }
        var exceptions: [String: Int64] = [:]
        for type in pending.keys { exceptions[type] = released[type] }
        for (type, sequence) in released.exceptions where sequence > head { exceptions[type] = sequence }
        released = AnchorVector(base: head, exceptions: exceptions)
        return atOnce
    }

    /// Releases what has waited long enough; the types.
    public mutating func close(at now: Instant) -> [String] {
        let due = pending.filter { deadline($0.key, $0.value) <= now }
        for (type, waiting) in due {
            pending[type] = nil
            set(type, to: waiting.sequence)
        }
        return due.keys.sorted()
    }

    public var nextDeadline: Instant? { pending.map { deadline($0.key, $0.value) }.min() }

    private func deadline(_ type: String, _ waiting: Pending) -> Instant {
        min(waiting.last + policy.window(of: type), waiting.first + max(policy.maximumWait, policy.window(of: type)))
    }

    private mutating func set(_ type: String, to sequence: Int64) {
        var exceptions = released.exceptions
        // Nothing of this type lies between its newest change and the head.
        exceptions[type] = max(sequence, released.base)
        released = AnchorVector(base: released.base, exceptions: exceptions)
    }

    /// Begins anew at a store that doesn't continue what was released.
    public mutating func reset() {
        released = .zero
        pending = [:]
    }
}
