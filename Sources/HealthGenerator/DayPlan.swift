import HealthModel

/// A time in which a person does one thing. Times are in seconds since 1970.
struct Stretch: Sendable {
    enum Kind: Int, Sendable, CaseIterable {
        case asleep, sitting
        /// On one's feet at home, at work, in shops: some steps, often interrupted.
        case about
        case walking
        /// Part of a workout, and a pause within it.
        case workout, pause
        /// Up and about while the watch is on its charger.
        case charging
        /// Asleep while the watch is off or empty.
        case unworn
    }

    var start: Int64
    var end: Int64
    var kind: Kind
    /// Metres per second, on foot.
    var speed: Float = 0
    /// Fast enough to count as exercise, for this person.
    var isBrisk = false
    /// Floors climbed.
    var climb: UInt8 = 0
    /// Whether the phone is in a pocket.
    var carriesPhone = false

    var length: Int64 { end - start }

    /// Whether it gets a person up long enough for a stand hour.
    var isStanding: Bool { kind == .about || kind == .walking || kind == .workout }
}

/// What a person does on one day, in seconds since 1970; everything recorded follows from it.
struct DayPlan: Sendable {
    let day: LocalDay
    /// The beginning and end of the local day, which has 23, 24 or 25 hours.
    let dayStart: Int64
    let dayEnd: Int64
    /// When the preceding night began, and when it ended.
    let asleep: Int64
    let wake: Int64
    let bed: Int64
    /// Beats per minute at rest, on this day.
    let resting: Double
    /// How the variability differs from the person's usual, as a factor.
    let recovery: Double
    let workout: Workout?
    /// When the watch's battery ran out in the night before; nil as a rule.
    let watchDied: Int64?
    /// Everything from the end of the day before (its bedtime, if that is after midnight), without gaps, in order.
    let stretches: [Stretch]

    struct Workout: Sendable {
        enum Activity: Int, Sendable, CaseIterable { case running, walking, cycling }
        let activity: Activity
        let start: Int64
        let end: Int64
        /// A pause in the middle, in seconds; 0 if there is none.
        let pause: Int64
        let isIndoor: Bool
        /// The part of the heart-rate reserve that it takes.
        let effort: Double
        let isIntervals: Bool

        /// When the pause begins.
        var middle: Int64 { start + (end - start) / 10 * 5 }
    }

    /// The workout, if the Watch has stored it and its route by then: that takes some seconds after its end.
    func workout(storedBy second: Int64) -> Workout? { workout.flatMap { $0.end + 20 <= second ? $0 : nil } }

    /// The minutes that count as exercise: those of workouts, and of brisk walks after the first one.
    func exerciseMinutes() -> [Int64] {
        var minutes: [Int64] = []
        for stretch in stretches where stretch.kind == .workout || stretch.isBrisk {
            var start = stretch.start + (stretch.isBrisk ? 60 : 0)
            while start + 60 <= stretch.end {
                minutes.append(start)
                start += 60
            }
        }
        return minutes
    }

    /// The hours of the local day while the person is up, by their start, and whether at least a minute of each was
    /// spent standing.
    func standHours() -> [(start: Int64, hasStood: Bool)] {
        let first = max(0, wake - dayStart) / 3600
        let last = (min(bed, dayEnd) - 1 - dayStart) / 3600
        guard first <= last else { return [] }
        var hours = (first...last).map { (start: dayStart + $0 * 3600, hasStood: false) }
        for stretch in stretches where stretch.isStanding {
            for index in hours.indices where !hours[index].hasStood {
                let start = hours[index].start
                hours[index].hasStood = min(stretch.end, start + 3600) - max(stretch.start, start) >= 60
            }
        }
        return hours
    }
}
