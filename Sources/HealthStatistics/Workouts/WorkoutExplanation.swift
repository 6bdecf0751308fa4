import HealthModel

/// Explains a day's workouts, including those that start on the day but don't count.
package struct WorkoutExplanation: Sendable {
    package var id: String
    /// The entry in the daily summary, as returned by the handler if the workout counts.
    package var figure: Value
    package var activity: String
    package var start: Instant
    package var end: Instant
    package var source: String
    /// When HealthKit stored it; nil when unknown.
    package var created: Instant?
    package var counts: Bool
    /// The index of the newest workout that the same source wrote for the same start and activity; nil if that is this
    /// workout.
    package var repeats: Int?
    /// How many workouts there are with the same source, start and activity, including this one.
    package var written: Int
    /// The indices of other workouts that overlap this one, not including repeats.
    package var overlaps: [Int]

    /// Earlier versions that this workout replaced, each with its end and the time at which its successor was first
    /// seen.
    package var replaced: [(end: Instant, on: Instant)]

    package var duration: Double
    package var durationOrigin: WorkoutOrigin
    package var paused: Double
    package var distance: Double?
    package var distanceOrigin: WorkoutOrigin
    package var energy: Double?
    package var energyOrigin: WorkoutOrigin
    /// `{average, minimum, maximum}`, or null.
    package var heartRate: Value
    package var heartRateOrigin: WorkoutOrigin
}

extension WorkoutsDay {
    /// Each workout, including those that don't count, with the origin of its values.
    package var explanations: [WorkoutExplanation] {
        entries.enumerated().map { index, entry in
            let workout = entry.workout
            let body = workout.body
            let (duration, durationOrigin) = body.timed
            let (distance, distanceOrigin) = body.covered
            let (energy, energyOrigin) = body.burned
            let overlaps = entries.indices.filter { other in
                let that = entries[other]
                return that.newest != entry.newest && that.workout.body.start < body.end
                    && body.start < that.workout.body.end
            }
            return WorkoutExplanation(
                id: workout.id, figure: workout.figure, activity: workout.activity.name, start: body.start,
                end: body.end, source: workout.sourceName,
                created: workout.created == 0 ? nil : Instant(seconds: workout.created), counts: entry.counts,
                repeats: entry.newest == index ? nil : entry.newest,
                written: entries.count { $0.newest == entry.newest }, overlaps: overlaps,
                replaced: Self.replaced(body["replaces"]), duration: duration,
                durationOrigin: durationOrigin, paused: (body.end - body.start - body.active.length).seconds,
                distance: distance, distanceOrigin: distanceOrigin, energy: energy, energyOrigin: energyOrigin,
                heartRate: workout.heart.rate, heartRateOrigin: workout.heart.origin)
        }
    }

    private static func replaced(_ noted: Value) -> [(end: Instant, on: Instant)] {
        (noted.array ?? []).compactMap { earlier in
            guard let end = earlier["end"].string.flatMap(InstantText.parse),
                let on = earlier["on"].string.flatMap(InstantText.parse)
            else { return nil }
            return (end, on)
        }
    }
}
