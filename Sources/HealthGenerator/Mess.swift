import HealthModel

/// What goes wrong in a messy life, and what other apps add to it. Everything depends on the seed and the day, except
/// for names and condensed records, which depend on the date of the export too.
enum Mess {
    enum Shape: Sendable {
        /// A day's sum of another app, over the whole day or at noon.
        case daySum(RecordStream.Amount), noonSum(RecordStream.Amount)
        /// Heart rates with a duration.
        case minuteRates
        /// A whole night of another app, in one piece.
        case night
        /// A workout's distance, measured by another app too.
        case runDistance
        /// Something that lasts beyond midnight.
        case eveningSymptom
        /// Types that no list of Apple's has.
        case unknownQuantity, unknownCategory
    }

    /// How old records are, in days before the end of the export, when HealthKit condenses them.
    static let daysUntilCondensed = 60

    /// What happens on one day.
    struct Day {
        /// When the band's app stores its sums, in seconds after the end of the day: up to five days late.
        let delay: Int64
        let isSentAgain: Bool
        let hasSymptom: Bool
        let hasUnknowns: Bool
        /// How often the other app writes the workout.
        let copies: Int
        let playsUnknownSport: Bool

        init(_ person: Person, _ day: LocalDay) {
            var random = SeededRandom(seed: person.seed, subject: 6001, day: day.number)
            delay = random.chance(0.3) ? Int64(random.uniform(1.2, 5) * 86_400) : Int64(random.uniform(600, 20_000))
            isSentAgain = random.chance(0.15)
            hasSymptom = random.chance(0.1)
            hasUnknowns = random.chance(0.4)
            copies = random.chance(0.6) ? random.chance(0.25) ? 2 : 1 : 0
            playsUnknownSport = random.chance(0.04)
        }
    }

    static func isRenamed(_ export: LocalDay) -> Bool { (export.year * 4 + (export.month - 1) / 3) % 2 == 0 }

    /// A week or so abroad every ten weeks, from before dawn of the first day to before dawn of the last.
    static func travels(_ home: String, from first: LocalDay, to last: LocalDay, _ seed: UInt64) throws -> ZoneTimeline
    {
        var entries = [ZoneTimeline.Entry(from: .distantPast, zone: home)]
        let destinations = ["America/New_York", "Asia/Tokyo", "Europe/Lisbon", "Australia/Lord_Howe"].filter {
            $0 != home
        }
        let own = try ZoneTimeline(zone: home)
        let length = 70
        for block in first.number / length - 1...last.number / length + 1 {
            var random = SeededRandom(seed: seed, subject: 6002, day: block)
            let away = LocalDay(number: block * length + 5 + random.index(50))
            let back = away.adding(days: 4 + random.index(4))
            let zone = destinations[random.index(destinations.count)]
            guard let left = own.ranges(of: away).first?.lowerBound,
                let returned = try ZoneTimeline(zone: zone).ranges(of: back).first?.lowerBound
            else { continue }
            entries.append(.init(from: left + .seconds(4 * 3600), zone: zone))
            entries.append(.init(from: returned + .seconds(4 * 3600), zone: home))
        }
        return try ZoneTimeline(entries)
    }

    /// The streams of an ordinary life and those of the other apps, by type.
    static let streams: [RecordStream] = {
        var all = RecordStream.ordinary
        for (index, var stream) in others.enumerated() {
            stream.subject = UInt64(500 + index)
            let place = all.lastIndex { $0.type == stream.type }.map { $0 + 1 } ?? all.count
            all.insert(stream, at: place)
        }
        return all
    }()

    private static let others: [RecordStream] = [
        .quantity("StepCount", .band, .plain("count"), .counted(sums), .messy(.daySum(.steps))),
        .quantity("StepCount", .ring, .plain("count"), .daily(1, isFixed: true), .messy(.noonSum(.steps))),
        .quantity("DistanceWalkingRunning", .band, .distance, .counted(sums), .messy(.daySum(.distance))),
        .quantity(
            "DistanceWalkingRunning", .runs, .distance,
            .counted { plan, _ in plan.workout?.activity == .running ? 5 : 0 },
            .messy(.runDistance)),
        .quantity("ActiveEnergyBurned", .band, .energy, .counted(sums), .messy(.daySum(.activeEnergy))),
        .quantity(
            "HeartRate", .strap, .plain("count/min"),
            .counted { plan, _ in plan.workout.map { Int($0.end - $0.start) / 60 } ?? 0 }, .messy(.minuteRates)),
        .category("SleepAnalysis", .nights, .daily(1, isFixed: true), .messy(.night)),
        .category("Headache", .byHand, .counted { Mess.Day($1, $0.day).hasSymptom ? 1 : 0 }, .messy(.eveningSymptom)),
        .quantity("GripEndurance", .runs, .plain("grip"), .counted(unknowns), .messy(.unknownQuantity)),
        .category("WeatherSense", .nights, .counted(unknowns), .messy(.unknownCategory)),
    ]

    @Sendable private static func sums(_ plan: DayPlan, _ person: Person) -> Int {
        Day(person, plan.day).isSentAgain ? 2 : 1
    }

    @Sendable private static func unknowns(_ plan: DayPlan, _ person: Person) -> Int {
        Day(person, plan.day).hasUnknowns ? 1 : 0
    }
}
