import HealthModel

/// A workout of which a source may have written another version: the same source and start, another end.
struct SeenWorkout: Equatable {
    /// The sequence that its row was born with.
    var born: Int64
    var id: SampleID
    /// Seconds since 1970; all of a place have the same.
    var second: Int64
    /// Seconds since 1970.
    var end: Int64
    /// When the first export was made, or the first push came, that had it, µs since 1970; `unknownFirst` where it was there before.
    var first: Int64
    /// Likewise the last one.
    var last: Int64
    /// When the newest whole export was made that had it; `neverExported` where there was none.
    var exported: Int64
    /// HealthKit's name of the activity.
    var activity: String
    var hasUUID: Bool
    /// It was found to be an earlier version.
    var isReplaced: Bool

    static let unknownFirst = Int64.min
    static let neverExported = Int64.min
}

/// Which of some workouts of one source and start are earlier versions of another.
///
/// A workout that was edited has another end, and so another identity; HealthKit has a UUID for each version, and exports don't tell it. The
/// older one is replaced where all of this holds:
///
/// - None of them has a HealthKit UUID: those are deleted by it.
/// - They have the same activity, and different ends.
/// - No two were ever there together: each was seen for the first time after the one before was seen for the last time.
/// - A whole export, made after the older one was last seen, has the newer one.
///
/// All else is ambiguous, and stays as it is. It follows from what was seen when, so the order of arrival changes nothing.
enum WorkoutVersions {
    /// By place in `seen`: the place of the next version; nil for what isn't replaced.
    static func replacements(_ seen: [SeenWorkout]) -> [Int?] {
        var found = [Int?](repeating: nil, count: seen.count)
        for places in Dictionary(grouping: seen.indices, by: { seen[$0].activity }).values {
            guard places.count > 1, places.allSatisfy({ !seen[$0].hasUUID }),
                Set(places.map { seen[$0].end }).count == places.count
            else { continue }
            let order = places.sorted { (seen[$0].first, seen[$0].born) < (seen[$1].first, seen[$1].born) }
            let pairs = zip(order, order.dropFirst())
            guard pairs.allSatisfy({ seen[$1].first > seen[$0].last }) else { continue }
            for (older, newer) in pairs where seen[newer].exported > seen[older].last { found[older] = newer }
        }
        return found
    }

    /// The versions before one, as its payload names them: `[{"end", "on"}]`, with when the version after each was first seen; null for none.
    static func earlier(of index: Int, _ seen: [SeenWorkout], _ next: [Int?]) -> Value {
        var earlier: [(end: Int64, on: Int64)] = []
        for (older, following) in next.enumerated() {
            guard var newest = following else { continue }
            let on = seen[newest].first
            while let newer = next[newest] { newest = newer }
            if newest == index { earlier.append((seen[older].end, on)) }
        }
        if earlier.isEmpty { return .null }
        return .array(
            earlier.sorted { $0 < $1 }.map {
                [
                    "end": .string(InstantText.iso8601(Instant(seconds: $0.end))),
                    "on": .string(InstantText.iso8601(Instant(microseconds: $0.on))),
                ]
            })
    }
}
