/// How a person spends a day: the stretches from waking up to going to bed, and the night around them.
struct Routine {
    let person: Person
    let isWeekend: Bool
    let isIll: Bool
    /// From -1 to 1.
    let mood: Double
    /// When the night begins that belongs to this day, the next moment after the day before.
    let asleep: Int64
    let wake: Int64
    let bed: Int64
    /// The end of the day, or bedtime if that is later.
    let end: Int64
    let watchDied: Int64?
    var random: SeededRandom
    private(set) var placed: [Stretch] = []

    /// - Parameter at: a time on the day's wall clock, from its hour.
    mutating func stretches(workout: DayPlan.Workout?, at: (Double) -> Int64) -> [Stretch] {
        if let workout { add(workout) }
        let charge = Int64(random.uniform(1500, 3600))
        place(person.chargesEarly ? wake + 300 : bed - 1500 - charge, charge, .charging)
        if !isIll {
            if isWeekend { outings(at) } else { workday(at, after: workout) }
            // The bus won't wait.
            if random.chance(0.9) { walk(at(random.uniform(9.2, 16.5)), random.uniform(4, 9), brisk: true) }
            if random.chance(0.2 + 0.1 * mood) { walk(at(random.uniform(19.6, 21)), random.uniform(12, 30)) }
        }
        // Getting up, breaks, the household.
        place(wake + 120, Int64(random.uniform(600, 1500)), .about)
        var hour = wake + 3600
        while hour < bed - 1800 {
            let length = random.uniform(isWeekend ? 4 : 2.5, isWeekend ? 15 : 9) * (isIll ? 0.5 : 1)
            if random.chance(isIll ? 0.6 : person.restlessness) {
                place(hour + Int64(random.uniform(0, 2400)), Int64(length * 60), .about)
            }
            hour += 3600
        }
        return filled()
    }

    private mutating func workday(_ at: (Double) -> Int64, after workout: DayPlan.Workout?) {
        var begin = max(wake + 3300, at(random.normal(person.wakeHour + 1.3, 0.15)))
        // A shower first, for whoever trains before work.
        if let workout, workout.start < begin { begin = max(begin, workout.end + 1500) }
        if person.commute > 0 {
            walk(begin, person.commute * random.uniform(0.92, 1.1), brisk: true)
            walk(begin + Int64(random.normal(9 * 3600, 1200)), person.commute * random.uniform(0.95, 1.2))
        }
        if random.chance(0.65) { walk(at(random.normal(12.6, 0.25)), random.uniform(8, 24)) }
    }

    private mutating func outings(_ at: (Double) -> Int64) {
        if random.chance(0.75) { walk(at(random.uniform(10.5, 13)), random.uniform(12, 35)) }
        if random.chance(0.6 + 0.2 * mood) { walk(at(random.uniform(14.5, 17)), random.uniform(25, 75)) }
    }

    private mutating func walk(_ start: Int64, _ minutes: Double, brisk: Bool = false) {
        let speed = person.walkingSpeed * random.uniform(0.9, 1.06) + (brisk ? 0.13 : 0)
        place(start, Int64(minutes * 60), .walking, speed: Float(speed))
    }

    private mutating func add(_ workout: DayPlan.Workout) {
        let (middle, resumed) = (workout.middle, workout.middle + workout.pause)
        placed.append(Stretch(start: workout.start, end: middle, kind: .workout))
        if workout.pause > 0 { placed.append(Stretch(start: middle, end: resumed, kind: .pause)) }
        placed.append(Stretch(start: resumed, end: workout.end, kind: .workout))
    }

    /// Adds a stretch, unless something is planned at that time.
    private mutating func place(_ start: Int64, _ length: Int64, _ kind: Stretch.Kind, speed: Float = 0) {
        let (from, to) = (max(wake, start), min(bed, start + length))
        let floors = kind == .walking ? random.index(5) : kind == .about && random.chance(0.25) ? 1 : 0
        let carries = random.chance(kind == .about ? 0.5 : 0.95)
        guard to - from >= 90, placed.allSatisfy({ to + 30 <= $0.start || $0.end + 30 <= from }) else { return }
        placed.append(
            Stretch(
                start: from, end: to, kind: kind, speed: speed, isBrisk: Double(speed) >= person.walkingSpeed,
                climb: UInt8(floors), carriesPhone: carries))
    }

    /// All stretches in order, with sitting between them, and the night.
    private func filled() -> [Stretch] {
        var all: [Stretch] = []
        all.reserveCapacity(placed.count * 2 + 4)
        func rest(until end: Int64, _ kind: Stretch.Kind) {
            let start = all.last?.end ?? asleep
            if start < end { all.append(Stretch(start: start, end: end, kind: kind)) }
        }
        if let watchDied {
            rest(until: watchDied, .asleep)
            rest(until: wake, .unworn)
        }
        rest(until: wake, .asleep)
        for stretch in placed.sorted(by: { $0.start < $1.start }) {
            rest(until: stretch.start, .sitting)
            all.append(stretch)
        }
        rest(until: bed, .sitting)
        rest(until: end, .asleep)
        return all
    }
}
