import HealthModel
import SQLite

/// Samples that HealthKit stored more than a day after they had ended, counted by user, type and start date.
///
/// The table of samples is its own changelog, so only rows that have changed since the last pass are read. If one of
/// them may have been counted before, all rows are read again.
package struct LateArrivals {
    package struct Day: Sendable, Hashable {
        package var count: Int32 = 0
        /// The longest time in seconds from a sample's end until it was stored.
        package var longest: Int64 = 0
    }

    struct Key: Hashable {
        var user: Int
        var type: Int
    }

    /// A sample is late if HealthKit stored it more than this many seconds after its end.
    package static let patience: Int64 = 86_400

    private(set) var days: [Key: [Int32: Day]] = [:]
    /// Rows up to this sequence have been counted as they were when they were read.
    private var covered = SequenceNumber.beginning
    /// The current pass covers rows above `base`, up to `target`.
    private var base = SequenceNumber.beginning
    private var target = SequenceNumber.beginning

    package init() {}

    /// Continues for at most `rows` rows, and subtracts those it read.
    /// - Parameter edges: returns nil for a type to skip.
    /// - Returns: whether every row in the store is counted.
    mutating func advance(
        _ walk: RowWalk, head: SequenceNumber, rows: inout Int, edges: (Key) throws -> DayEdges?
    ) throws -> Bool {
        while covered < head || covered < target {
            guard rows > 0 else { return false }
            if covered >= target {
                base = covered
                target = head
            }
            var wasCounted = false
            var reached = target
            let isDone = try walk.run(SequenceWindow(after: covered, through: target)) { walked, _ in
                rows -= 1
                reached = walked.row.sequence
                let delay = walked.row.created &- walked.row.second &- walked.row.duration / 1_000_000
                // The row was examined before it changed, and may already have been counted.
                let isOld = walked.row.born <= base && walked.row.born < walked.row.sequence
                guard isOld || delay > Self.patience else { return rows > 0 }
                let key = Key(user: walked.user, type: walked.row.type)
                guard let edges = try edges(key) else { return rows > 0 }
                let start = Instant(microseconds: walked.row.second &* Instant.microsecondsPerSecond)
                let number = Int32(clamping: edges.date(at: start).day)
                let known = days[key]?[number]
                if isOld, known != nil { wasCounted = true }
                if walked.row.state == .alive, delay > Self.patience {
                    var day = known ?? Day()
                    day.count += 1
                    day.longest = max(day.longest, delay)
                    days[key, default: [:]][number] = day
                }
                return rows > 0
            }
            let end = isDone ? target : reached
            covered = end
            if wasCounted { self = LateArrivals() }
        }
        return true
    }
}
