import HealthModel

/// Who a seed stands for: body, habits and fitness, which everything recorded follows from.
struct Person: Sendable {
    let seed: UInt64
    let birth: LocalDay
    let heightMeters: Double
    let massKilograms: Double
    /// Beats per minute, in an ordinary week.
    let restingRate: Double
    /// What the heart reaches at most, in beats per minute.
    let maximumRate: Double
    /// Milliseconds (SDNN).
    let variability: Double
    /// Breaths per minute, asleep.
    let breaths: Double
    let vo2Max: Double
    /// Metres per second, at an easy effort.
    let walkingSpeed: Double
    let runningSpeed: Double
    let cyclingSpeed: Double
    /// How hilly it is at home: the usual height of a hill, in metres.
    let hills: Double
    /// Hours of the local clock, on workdays.
    let wakeHour: Double
    let bedHour: Double
    /// How much later on weekends, in hours.
    let sleepsIn: Double
    /// Minutes on foot, each way; 0 for someone who works at home.
    let commute: Double
    /// The chance of getting up in an hour of sitting.
    let restlessness: Double
    let trainsEarly: Bool
    let chargesEarly: Bool
    /// The weekdays with a workout, from Sunday (0) to Saturday.
    let trainingDays: [Bool]
    /// How likely each activity is, in the order of `DayPlan.Workout.Activity`.
    let preferences: [Double]

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed, subject: 5000, day: 0)
        birth = LocalDay(year: 1960 + random.index(42), month: 1 + random.index(12), day: 1 + random.index(28))
        heightMeters = (random.normal(1.73, 0.08) * 100).rounded() / 100
        massKilograms = random.uniform(20.5, 26.5) * heightMeters * heightMeters
        let fitness = random.uniform(0, 1)
        restingRate = 65 - 14 * fitness + random.normal(0, 1.5)
        let age = Double(2025 - birth.year)
        maximumRate = 220 - age + random.normal(0, 4)
        variability = max(18, 40 + 22 * fitness - 0.5 * (age - 40) + random.normal(0, 4))
        breaths = random.normal(14.6, 0.8)
        vo2Max = 33 + 17 * fitness - 0.15 * (age - 40)
        walkingSpeed = 1.3 + 0.17 * fitness + random.normal(0, 0.03)
        runningSpeed = 2.45 + 0.75 * fitness - 0.006 * (age - 40)
        cyclingSpeed = 5.2 + 1.8 * fitness
        hills = random.uniform(3, 7)
        wakeHour = random.uniform(6.2, 7.3)
        bedHour = random.uniform(22.4, 23.2)
        sleepsIn = random.uniform(0.7, 1.6)
        commute = random.chance(0.7) ? random.uniform(7, 19) : 0
        restlessness = random.uniform(0.78, 0.95)
        trainsEarly = random.chance(0.25)
        chargesEarly = random.chance(0.5)
        var days = [false, true, false, true, false, false, true]
        if random.chance(0.6) { days = [true, false, true, false, true, false, false] }
        days[5] = random.chance(0.5)
        trainingDays = days
        preferences = (0..<3).map { _ in random.uniform(0.3, 1) }
    }

    /// Metres from one step to the next when walking at a speed: people lengthen their steps as they hurry.
    func stepLength(walking speed: Double) -> Double { 0.415 * heightMeters * (0.55 + 0.45 * speed / 1.35) }

    /// Kilocalories at rest, per second (Mifflin and St Jeor, between the sexes).
    var restingEnergy: Double {
        (10 * massKilograms + 625 * heightMeters - 5 * Double(2025 - birth.year) - 78) / 86_400
    }
}

extension SeededRandom {
    /// A number from -1 to 1 that changes slowly from day to day, over about a week.
    static func drift(seed: UInt64, subject: UInt64, day: Int) -> Double {
        func knot(_ week: Int) -> Double {
            var random = SeededRandom(seed: seed, subject: subject, day: week)
            return random.uniform(-1, 1)
        }
        let week = day >= 0 ? day / 7 : (day - 6) / 7
        let part = Double(day - week * 7) / 7
        let (before, after) = (knot(week), knot(week + 1))
        return before + (after - before) * part * part * (3 - 2 * part)
    }
}
