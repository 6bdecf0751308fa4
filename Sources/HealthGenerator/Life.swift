import HealthModel

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
    /// How active the day is, as a number around 1.
    let level: Double
    let workout: Workout?

    struct Workout: Sendable {
        enum Activity: Int, Sendable { case running, walking, cycling }
        let activity: Activity
        let start: Int64
        let end: Int64
        /// A pause in the middle, in seconds; 0 if there is none.
        let pause: Int64
        let isIndoor: Bool
    }

    /// The workout, if the Watch has stored it and its route by then: that takes some seconds after its end.
    func workout(storedBy second: Int64) -> Workout? { workout.flatMap { $0.end + 20 <= second ? $0 : nil } }

    func isAsleep(_ second: Int64) -> Bool { second < wake || second >= bed }

    func isInWorkout(_ second: Int64) -> Bool { workout.map { $0.start <= second && second < $0.end } ?? false }
}

/// A person's days, oldest first.
struct Life: Sendable {
    let plans: [DayPlan]

    /// - Parameter until: seconds since 1970; a day that begins later has no plan.
    init(days: Int, end: LocalDay, zones: ZoneTimeline, seed: UInt64, until: Int64 = .max) {
        let first = end.adding(days: 1 - days)
        var lastBed: Int64?
        var plans: [DayPlan] = []
        plans.reserveCapacity(days)
        // The first night depends on the evening before.
        for index in -1..<days {
            // A day that a zone skipped (30 December 2011 in Samoa) has no plan.
            let day = first.adding(days: index)
            let ranges = zones.ranges(of: day)
            guard let begin = ranges.first?.lowerBound, let finish = ranges.last?.upperBound,
                begin.flooredSecond < until
            else { continue }
            let plan = Self.plan(
                day, begin.flooredSecond, finish.flooredSecond, lastBed,
                SeededRandom(seed: seed, subject: 0, day: day.number))
            lastBed = plan.bed
            if index >= 0 { plans.append(plan) }
        }
        self.plans = plans
    }

    private static func plan(
        _ day: LocalDay, _ begin: Int64, _ finish: Int64, _ lastBed: Int64?, _ random: SeededRandom
    ) -> DayPlan {
        var random = random
        /// A time on the local wall clock, which changes only at night.
        func at(_ hour: Double) -> Int64 { finish - 86_400 + Int64(hour * 3600) }
        let isWeekend = (day.number + 4) % 7 == 0 || (day.number + 4) % 7 == 6
        let wake = at(random.normal(isWeekend ? 8.2 : 6.8, 0.35))
        let bed = at(random.normal(isWeekend ? 23.6 : 22.9, 0.4))
        let level = random.uniform(0.6, 1.5)
        let firstBed = begin - Int64(random.uniform(0, 5400))
        let trains = random.chance(0.4)
        let activity = DayPlan.Workout.Activity(rawValue: random.index(3)) ?? .running
        let start = at(random.uniform(16.5, 18.5))
        let length = Int64(random.uniform(1500, 4200))
        let pause: Int64 = random.chance(0.3) ? Int64(random.uniform(30, 240)) : 0
        let workout = DayPlan.Workout(
            activity: activity, start: start, end: start + length, pause: pause, isIndoor: random.chance(0.2))
        return DayPlan(
            day: day, dayStart: begin, dayEnd: finish, asleep: lastBed ?? firstBed, wake: wake, bed: bed, level: level,
            workout: trains ? workout : nil)
    }
}
