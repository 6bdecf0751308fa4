import HealthModel

/// A workout that may have another version from the same source, with the same start but another end.
struct SeenWorkout: Equatable {
    /// The sequence under which its row was first stored.
    var born: Int64
    var id: SampleID
    /// Seconds since 1970; the same for all workouts of a place.
    var second: Int64
    /// Seconds since 1970.
    var end: Int64
    /// When the first export that contained the workout was made, or when the first push with it arrived, in µs since
    /// 1970; `unknownFirst` if the workout existed before sightings were recorded.
    var first: Int64
    /// The same as above, for the last export or push.
    var last: Int64
    /// When the newest complete export that contained the workout was made; `neverExported` if there was none.
    var exported: Int64
    /// HealthKit's name for the activity.
    var activity: String
    var hasUUID: Bool
    /// Whether it was found to be an earlier version.
    var isReplaced: Bool

    static let unknownFirst = Int64.min
    static let neverExported = Int64.min
}

/// Determines which of several workouts with the same source and start are earlier versions of another.
///
/// A workout that was edited has a different end, and so a different identity; HealthKit has a UUID for each version,
/// but exports don't include it. The older workout is replaced if all of the following hold:
///
/// - None of them has a HealthKit UUID; workouts that have one are deleted by UUID.
/// - They have the same activity, and different ends.
/// - No two ever existed together: each was first seen after the previous one was last seen.
/// - A complete export, made after the older one was last seen, contains the newer one.
///
/// Anything else is ambiguous, and is left alone. The result depends only on what was seen when, so the order of
/// arrival doesn't matter.
enum WorkoutVersions {
    /// For each index in `seen`, the index of the next version; nil if that workout isn't replaced.
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

    /// The earlier versions of a workout, as listed in its payload: `[{"end", "on"}]`, where `on` is the time at which
    /// the next version was first seen; null if there are no earlier versions.
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
