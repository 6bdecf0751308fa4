import HealthModel

/// What is decided for a day before anything happens on it.
struct DayPlan {
    let options: PhoneLife.Options
    let day: Int
    let start: Instant
    let end: Instant
    let zone: String
    let wakesAt: Instant
    let sleepsAt: Instant
    /// Start and end; nil on a day of rest.
    let workout: Range<Instant>?
    /// The stretches without a network: gaps of minutes, and flights. They may overlap.
    let offline: [Range<Instant>]
    /// When the phone is in use: for minutes at a time, again and again, while the person is awake. The stretches are
    /// in order and don't overlap.
    let looks: [Range<Instant>]

    init(options: PhoneLife.Options, day: Int, start: Instant, end: Instant, zone: String) {
        (self.options, self.day, self.start, self.end, self.zone) = (options, day, start, end, zone)
        let model = options.model
        var random = SimulatedRandom(seed: options.seed, subject: 1, number: day)
        func around(_ hours: Double, _ spread: Double) -> Instant {
            start + random.seconds((hours - spread) * 3600, (hours + spread) * 3600)
        }
        wakesAt = around(model[.wakesUpAtHour], 0.75)
        sleepsAt = around(model[.fallsAsleepAtHour], 0.6)
        let begin = start + random.seconds(9 * 3600, 19 * 3600)
        workout = random.chance(model[.workoutsPerDay]) ? begin..<(begin + random.seconds(1500, 4500)) : nil
        offline = Self.offline(options, day, wakesAt..<sleepsAt, start, &random)
        looks = Self.looks(options, day, wakesAt..<sleepsAt)
    }

    private static func offline(
        _ options: PhoneLife.Options, _ day: Int, _ awake: Range<Instant>, _ start: Instant,
        _ random: inout SimulatedRandom
    ) -> [Range<Instant>] {
        let model = options.model
        var offline: [Range<Instant>] = []
        for _ in 0..<random.times(model[.networkGapsPerDay]) {
            let from = random.instant(in: awake)
            let minutes = model[.networkGapMinutes]
            offline.append(from..<(from + random.seconds(minutes * 30, minutes * 90)))
        }
        let isTravelling = options.trip.map { day == $0.lowerBound || day == $0.upperBound } ?? false
        if random.chance(model[.flightsPerDay]) || isTravelling {
            let from = start + random.seconds(10 * 3600, 14 * 3600)
            offline.append(from..<(from + random.seconds(2 * 3600, 8 * 3600)))
        }
        return offline
    }

    private static func looks(_ options: PhoneLife.Options, _ day: Int, _ awake: Range<Instant>) -> [Range<Instant>] {
        let model = options.model
        var random = SimulatedRandom(seed: options.seed, subject: 4, number: day)
        var spells: [Range<Instant>] = []
        for _ in 0..<random.times(model[.quietSpellsPerDay]) {
            let from = random.instant(in: awake)
            let hours = model[.quietSpellHours]
            spells.append(from..<(from + random.seconds(hours * 1800, hours * 5400)))
        }
        let quiet = spells.reduce(0) { $0 + ($1.upperBound - $1.lowerBound).seconds }
        let time = max(3600, (awake.upperBound - awake.lowerBound).seconds - quiet)
        let length = model[.pickupMinutes] * 60
        let gap = max(20, time / max(1, model[.pickupsPerDay]) - length)
        var looks: [Range<Instant>] = []
        var at = awake.lowerBound + random.seconds(60, 900)
        while at < awake.upperBound {
            if let spell = spells.first(where: { $0.contains(at) }) {
                at = spell.upperBound
                continue
            }
            let until = at + .seconds(Int64(10 + random.exponential(mean: max(5, length - 10))))
            looks.append(at..<until)
            at = until + .seconds(Int64(10 + random.exponential(mean: gap - 10)))
        }
        return looks
    }
}
