import HealthModel

/// A person's days, oldest first.
struct Life: Sendable {
    let person: Person
    let plans: [DayPlan]

    /// - Parameters:
    ///   - until: seconds since 1970; a day that begins later has no plan.
    ///   - isMessy: whether the watch's battery runs out in some nights.
    init(
        days: Int, end: LocalDay, zones: ZoneTimeline, seed: UInt64, until: Int64 = .max, isMessy: Bool = false
    ) {
        person = Person(seed: seed)
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
            let plan = DayPlan(
                day, begin.flooredSecond, finish.flooredSecond, after: lastBed, of: person, isMessy: isMessy)
            lastBed = plan.bed
            if index >= 0 { plans.append(plan) }
        }
        self.plans = plans
    }
}

extension DayPlan {
    /// - Parameter lastBed: when the person went to bed the evening before; nil if that isn't known.
    fileprivate init(
        _ day: LocalDay, _ begin: Int64, _ finish: Int64, after lastBed: Int64?, of person: Person, isMessy: Bool
    ) {
        var random = SeededRandom(seed: person.seed, subject: 0, day: day.number)
        /// A time on the local wall clock, which changes only at night.
        func at(_ hour: Double) -> Int64 { finish - 86_400 + Int64(hour * 3600) }
        let weekday = ((day.number + 4) % 7 + 7) % 7
        let isWeekend = weekday == 0 || weekday == 6
        let isIll = Self.isIll(day, person)
        let mood = SeededRandom.drift(seed: person.seed, subject: 5002, day: day.number)
        let wakeHour = person.wakeHour + (isWeekend ? person.sleepsIn : 0) + (isIll ? 0.6 : 0)
        // Whoever stays up on Friday and Saturday sleeps in on the next day.
        let bedHour = person.bedHour + (weekday == 5 || weekday == 6 ? person.sleepsIn * 0.7 : 0) - (isIll ? 0.7 : 0)
        let (wakes, sleeps) = (random.normal(wakeHour, 0.25), random.normal(bedHour, 0.3))
        // Drawn apart: no other number depends on whether the evening before is known.
        var evening = random
        let asleep = lastBed ?? begin - Int64(evening.uniform(0, 5400))
        // A flight makes a day longer or shorter, but not a night of half a day, or of an hour.
        let wake = max(min(at(wakes), asleep + 10 * 3600), asleep + 3 * 3600)
        let bed = max(at(sleeps), wake + 4 * 3600)
        let trains = !isIll && random.chance(person.trainingDays[weekday] ? 0.85 : 0.14)
        let workout = Self.workout(person, isWeekend: isWeekend, wake: wake, at: at, &random)
        var rhythm = SeededRandom(seed: person.seed, subject: 5003, day: day.number)
        resting =
            person.restingRate + 2 * SeededRandom.drift(seed: person.seed, subject: 5004, day: day.number)
            + (isIll ? 5 : 0) + (bedHour > 23.5 ? 0.8 : 0) + rhythm.normal(0, 0.8)
        recovery = 1 + 0.12 * mood - (isIll ? 0.25 : 0) + rhythm.normal(0, 0.05)
        self.day = day
        dayStart = begin
        dayEnd = finish
        (self.asleep, self.wake, self.bed) = (asleep, wake, bed)
        self.workout = trains && workout.end + 1800 < bed ? workout : nil
        var mess = SeededRandom(seed: person.seed, subject: 6000, day: day.number)
        let died = at(1) + Int64(mess.uniform(-600, 600))
        watchDied = isMessy && mess.chance(0.12) && died > max(begin, asleep) + 1800 && died + 7200 < wake ? died : nil
        var routine = Routine(
            person: person, isWeekend: isWeekend, isIll: isIll, mood: mood, asleep: max(begin, asleep), wake: wake,
            bed: bed, end: max(finish, bed), watchDied: watchDied,
            random: SeededRandom(seed: person.seed, subject: 5005, day: day.number))
        stretches = routine.stretches(workout: self.workout, at: at)
    }

    /// A few days in bed, every few months.
    private static func isIll(_ day: LocalDay, _ person: Person) -> Bool {
        let season = day.number >= 0 ? day.number / 60 : (day.number - 59) / 60
        var random = SeededRandom(seed: person.seed, subject: 5001, day: season)
        let first = random.index(55)
        let length = 3 + random.index(3)
        return random.chance(0.45) && (first..<first + length).contains(day.number - season * 60)
    }

    private static func workout(
        _ person: Person, isWeekend: Bool, wake: Int64, at: (Double) -> Int64, _ random: inout SeededRandom
    ) -> Workout {
        var choice = random.uniform(0, person.preferences.reduce(0, +))
        let activity =
            Workout.Activity.allCases.first { kind in
                choice -= person.preferences[kind.rawValue]
                return choice < 0
            } ?? .running
        let hour =
            isWeekend ? random.uniform(9.8, 15) : person.trainsEarly ? random.uniform(0, 0.4) : random.uniform(17.9, 19)
        let start = isWeekend || !person.trainsEarly ? max(at(hour), wake + 2400) : wake + 1800 + Int64(hour * 3600)
        let minutes: ClosedRange<Double> =
            switch activity {
            case .running: isWeekend ? 35...75 : 25...50
            case .walking: 30...70
            case .cycling: isWeekend ? 45...100 : 30...60
            }
        // Everything in a workout happens in steps of five seconds.
        let length = Int64(random.uniform(minutes.lowerBound, minutes.upperBound) * 12) * 5
        let pause = random.chance(0.25) ? Int64(random.uniform(4, 20)) * 5 : 0
        let isIndoor = random.chance(activity == .walking ? 0.05 : 0.15)
        let effort: ClosedRange<Double> =
            switch activity {
            case .running: 0.62...0.76
            case .walking: 0.3...0.42
            case .cycling: 0.5...0.66
            }
        return Workout(
            activity: activity, start: start, end: start + length, pause: pause, isIndoor: isIndoor,
            effort: random.uniform(effort.lowerBound, effort.upperBound),
            isIntervals: activity == .running && random.chance(0.2))
    }
}
