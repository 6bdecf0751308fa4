import HealthModel

/// Two collections of (id, version, deleted, content), folded by the days that their ids begin with, so that millions
/// are compared in a few hundred kilobytes of memory: only days that differ need to be examined id by id.
///
/// The first 48 bits of an id are its sample's start in milliseconds. Ids from other sources may fall on any day; those
/// outside the plausible days share the last bucket.
package struct VersionFold: Sendable {
    package enum Side: Sendable { case ours, theirs }

    package struct Bucket: Sendable, Equatable {
        package var ours = 0
        package var theirs = 0
        /// The sum of this side's hashes minus the sum of the other's.
        fileprivate var difference: UInt64 = 0

        package var differs: Bool { ours != theirs || difference != 0 }
    }

    package private(set) var buckets: [Bucket]
    private static let dayLength: UInt64 = 86_400_000

    /// - Parameter now: days up to two years after it have a bucket of their own.
    package init(now: Instant) {
        let today = Int(max(0, now.microseconds / (86_400 * Instant.microsecondsPerSecond)))
        buckets = Array(repeating: Bucket(), count: min(today, 100_000) + 732)
    }

    package func bucket(of id: SampleID) -> Int { min(Int(id.high >> 16 / Self.dayLength), buckets.count - 1) }

    package mutating func add(_ id: SampleID, _ held: HeldVersion, _ side: Side) {
        let index = bucket(of: id)
        let hash = Self.hash(id, held)
        switch side {
        case .ours:
            buckets[index].ours += 1
            buckets[index].difference &+= hash
        case .theirs:
            buckets[index].theirs += 1
            buckets[index].difference &-= hash
        }
    }

    /// Buckets that differ, joined into ranges with about this many rows; a single bucket may have more.
    package func differing(rows limit: Int) -> [[Int]] {
        var batches: [[Int]] = []
        var rows = Int.max
        for (index, bucket) in buckets.enumerated() where bucket.differs {
            let size = bucket.ours + bucket.theirs
            if rows.addingReportingOverflow(size).overflow || rows + size > limit {
                batches.append([])
                rows = 0
            }
            batches[batches.count - 1].append(index)
            rows += size
        }
        return batches
    }

    /// The ids that bound a bucket: the one before its first (nil for none), and its last.
    package func ids(of bucket: Int) -> (after: SampleID?, last: SampleID) {
        let first = (UInt64(bucket) * Self.dayLength) << 16
        let isLast = bucket == buckets.count - 1
        let next = isLast ? UInt64.max : (UInt64(bucket + 1) * Self.dayLength) << 16 - 1
        return (bucket == 0 ? nil : SampleID(high: first - 1, low: .max), SampleID(high: next, low: .max))
    }

    private static func hash(_ id: SampleID, _ held: HeldVersion) -> UInt64 {
        let version = UInt64(bitPattern: held.version) << 1 | (held.isDeleted ? 1 : 0)
        let content = held.isDeleted ? 0 : UInt64(bitPattern: held.content ?? 0)
        return mixed(mixed(mixed(mixed(id.high) ^ id.low) ^ version) ^ content)
    }

    /// The last steps of SplitMix64.
    static func mixed(_ word: UInt64) -> UInt64 {
        var word = word &+ 0x9e37_79b9_7f4a_7c15
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}
