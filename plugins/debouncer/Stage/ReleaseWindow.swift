import Changelog
import HealthModel
import Protocol

/// Which changes have been released to the consumers, and which are waiting: for their type's window to close, or for
/// the app to get time. Pure.
///
/// A type's window is a trailing one: it closes when the type hasn't changed for the length of the window, or when the
/// first change has waited long enough. A window of 0 closes at once. A file that is being read is one burst: windows
/// stay open until its end, but no longer than `Policy.importWait`. In the background, a window that doesn't fit into a
/// wake isn't waited for, since the app would be suspended meanwhile. What happens when a window closes depends on the
/// reach: a release while the app has time, in a wake together with all other windows, so that it has one sync; a place
/// in the pending set while the app has no time.
package struct ReleaseWindow: Sendable, Equatable {
    package struct Policy: Sendable, Equatable {
        /// Length of the trailing window, for types without a setting of their own.
        package var window: Duration
        /// The longest that a change waits, no matter how often its type changes.
        package var maximumWait: Duration
        package var byType: [String: Duration]
        package var maximumByType: [String: Duration]
        /// The longest that a change waits for the end of a file that is being read.
        package var importWait: Duration

        package init(
            window: Duration, maximumWait: Duration, byType: [String: Duration] = [:],
            maximumByType: [String: Duration] = [:], importWait: Duration = .zero
        ) {
            (self.window, self.maximumWait, self.byType) = (window, maximumWait, byType)
            (self.maximumByType, self.importWait) = (maximumByType, importWait)
        }

        /// The longest that a wake can wait: a third of its 15 seconds, the rest of which is for the sync.
        package static let longestInWake = Duration.seconds(5)

        func window(of type: String, in reach: Reach = .everything) -> Duration {
            let window = byType[type] ?? window
            return reach == .everything || window <= Self.longestInWake ? window : .zero
        }

        func maximum(of type: String, in reach: Reach) -> Duration {
            let maximum = max(maximumByType[type] ?? maximumWait, window(of: type))
            return reach == .everything ? maximum : min(maximum, Self.longestInWake)
        }
    }

    /// What may be released at present.
    package enum Reach: Sendable, Equatable {
        /// The app has time: everything that the observer has may be released.
        case everything
        /// The app has been woken: fired types may be released, once their windows close.
        case fired
        /// The app has been woken to add fired types to the pending set, which a task releases later.
        case collecting
        /// The phone is locked, or the app was force-quit: nothing is released, and no window closes.
        case nothing
    }

    struct Waiting: Sendable, Equatable {
        var first: MonotonicTime
        var last: MonotonicTime
        var sequence: SequenceNumber
    }

    package let policy: Policy
    package var reach = Reach.everything
    /// Whether the observer is reading a file.
    package var isImporting = false
    /// Types that are switched off: nothing is released beyond the point they had reached when they were switched off.
    package var off: Set<String> = [] {
        didSet {
            for type in off {
                waiting[type] = nil
                collected[type] = nil
            }
        }
    }
    /// How far each type has been released.
    package private(set) var released: AnchorVector
    private(set) var waiting: [String: Waiting] = [:]
    /// Types whose windows closed while nothing could be released.
    private(set) var collected: [String: SequenceNumber]
    /// The latest sequence of each type, released or not.
    private var newest: [String: SequenceNumber] = [:]

    package init(policy: Policy, released: AnchorVector, collected: [String: SequenceNumber] = [:]) {
        (self.policy, self.released, self.collected) = (policy, released, collected)
        newest = collected
    }

    /// Types whose window is open, or that are waiting for time.
    package var pendingTypes: [String] { Set(waiting.keys).union(collected.keys).sorted() }

    /// Everything that is waiting, with its sequence number: this must survive while the app has no time.
    package var pendingSet: [String: SequenceNumber] {
        collected.merging(waiting.mapValues(\.sequence)) { max($0, $1) }
    }

    /// Whether a window has closed with changes in it that couldn't be released.
    package var hasCollected: Bool { !collected.isEmpty }

    /// Whether any type that isn't off has something unreleased, fired or not.
    package var hasUnreleased: Bool { newest.contains { $0.value > released[$0.key] && !off.contains($0.key) } }

    /// Notes that a type has been fired up to `sequence`. Returns whether that released something at once.
    package mutating func changed(_ type: String, to sequence: SequenceNumber, at now: MonotonicTime) -> Bool {
        newest[type] = max(newest[type] ?? .beginning, sequence)
        // Collected types have had their window; once the app has time they get a new one, and are released.
        let known = reach == .collecting ? collected[type] ?? .beginning : .beginning
        guard sequence > released[type], sequence > known, !off.contains(type), reach != .nothing else { return false }
        if policy.window(of: type) == .zero {
            waiting[type] = nil
            guard reach != .collecting else {
                collected[type] = sequence
                return false
            }
            collected[type] = nil
            set(type, to: sequence)
            return true
        }
        if var entry = waiting[type] {
            if sequence > entry.sequence {
                entry.last = now
                entry.sequence = sequence
                waiting[type] = entry
            }
        } else {
            waiting[type] = Waiting(first: now, last: now, sequence: sequence)
        }
        return false
    }

    /// Takes in the observer's head and all its heads by type, from one read, and how far each type has been fired.
    /// Returns the types that were released at once.
    package mutating func heard(
        head: SequenceNumber, heads: [String: SequenceNumber], fired: AnchorVector? = nil, at now: MonotonicTime
    ) -> [String] {
        var atOnce: [String] = []
        for (type, sequence) in heads {
            let limit = reach == .everything ? sequence : min(sequence, fired?[type] ?? sequence)
            if changed(type, to: limit, at: now) { atOnce.append(type) }
            newest[type] = max(newest[type] ?? .beginning, sequence)
        }
        // A type that isn't waiting has no changes between its release and the head.
        guard head > released.base else { return atOnce.sorted() }
        var exceptions: [String: SequenceNumber] = [:]
        for type in pendingTypes { exceptions[type] = released[type] }
        for (type, sequence) in heads where sequence > released[type] { exceptions[type] = released[type] }
        for (type, sequence) in released.exceptions where sequence > head { exceptions[type] = sequence }
        released = AnchorVector(base: head, exceptions: exceptions)
        return atOnce.sorted()
    }

    /// Closes the windows that have waited long enough: their content is released, or collected. Returns the types.
    package mutating func close(at now: MonotonicTime) -> [String] {
        guard reach != .nothing else { return [] }
        var due = waiting.filter { deadline($0.key, $0.value) <= now }
        if reach == .fired, !due.isEmpty { due = waiting }
        for (type, entry) in due { close(type, entry) }
        return due.keys.sorted()
    }

    private mutating func close(_ type: String, _ entry: Waiting) {
        waiting[type] = nil
        if reach == .collecting {
            collected[type] = max(collected[type] ?? .beginning, entry.sequence)
        } else {
            collected[type] = nil
            set(type, to: entry.sequence)
        }
    }

    /// Notes that no file is being read any longer, so that changes stop waiting for its end.
    package mutating func endBurst() {
        isImporting = false
        for type in waiting.keys { waiting[type]?.first = .distantPast }
    }

    /// Closes all windows now.
    package mutating func closeAll() {
        guard reach != .nothing else { return }
        for (type, entry) in waiting { close(type, entry) }
    }

    /// Releases everything of some types, or of all, regardless of windows, and returns the types for which something
    /// was released.
    package mutating func releaseEverything(of types: (String) -> Bool = { _ in true }) -> [String] {
        guard reach != .nothing else { return [] }
        var moved: [String] = []
        for (type, sequence) in newest where sequence > released[type] && !off.contains(type) && types(type) {
            waiting[type] = nil
            collected[type] = nil
            set(type, to: sequence)
            moved.append(type)
        }
        for type in collected.keys where types(type) && released[type] >= collected[type] ?? .beginning {
            collected[type] = nil
        }
        return moved.sorted()
    }

    package var nextDeadline: MonotonicTime? {
        reach == .nothing ? nil : waiting.map { deadline($0.key, $0.value) }.min()
    }

    private func deadline(_ type: String, _ entry: Waiting) -> MonotonicTime {
        let usual = min(
            entry.last + policy.window(of: type, in: reach), entry.first + policy.maximum(of: type, in: reach))
        return isImporting ? max(usual, entry.first + policy.importWait) : usual
    }

    private mutating func set(_ type: String, to sequence: SequenceNumber) {
        var exceptions = released.exceptions
        // The type has no change between its latest one and the head.
        exceptions[type] = max(sequence, released.base)
        released = AnchorVector(base: released.base, exceptions: exceptions)
    }

    /// Starts over with a store that doesn't continue from what was released.
    package mutating func reset() {
        released = .beginning
        waiting = [:]
        collected = [:]
        newest = [:]
    }
}
