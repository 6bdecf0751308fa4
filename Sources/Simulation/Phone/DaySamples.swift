import HealthModel

/// A day's samples, at the rates of real Watches, and when they reach the phone.
struct DaySamples {
    private let plan: DayPlan
    private var random: SimulatedRandom
    private var added: [(arrives: Instant, sample: LifeSample)] = []
    private var deleted: [(arrives: Instant, uuid: SampleID)] = []
    /// When the Watch hands over its samples.
    private var handovers: [Instant] = []

    init(_ plan: DayPlan) {
        self.plan = plan
        random = SimulatedRandom(seed: plan.options.seed, subject: 3, number: plan.day)
        var watch = SimulatedRandom(seed: plan.options.seed, subject: 8, number: plan.day)
        handovers = Self.handovers(plan, &watch)
    }

    /// Every few minutes by day, seldom at night, often right after a pickup, soon after a workout; never while Watch
    /// and phone are apart.
    private static func handovers(_ plan: DayPlan, _ random: inout SimulatedRandom) -> [Instant] {
        let model = plan.options.model
        var apart: Range<Instant>?
        if random.chance(model[.watchApartDays]) {
            let from = plan.start + random.seconds(9 * 3600, 18 * 3600)
            let hours = model[.watchApartHours]
            apart = from..<(from + random.seconds(hours * 1800, hours * 5400))
        }
        var times: [Instant] = []
        var at = plan.start
        while at < plan.end {
            let isNight = at < plan.wakesAt || at > plan.sleepsAt
            let seconds = 60 * model[isNight ? .watchNightMinutes : .watchDayMinutes]
            at += random.seconds(seconds * 0.4, seconds * 1.6)
            times.append(at)
        }
        for look in plan.looks where random.chance(model[.watchAfterPickup]) {
            times.append(look.lowerBound + random.seconds(5, 40))
        }
        if let workout = plan.workout {
            let seconds = 60 * model[.watchAfterWorkoutMinutes]
            times.append(workout.upperBound + random.seconds(seconds * 0.2, seconds))
        }
        if let apart { times = times.filter { !apart.contains($0) } + [apart.upperBound] }
        return times.sorted()
    }

    /// The day's samples in the batches in which they arrive, with the deletions.
    mutating func arrivals() -> [TimedEvent] {
        if plan.options.density > 0 {
            night()
            heart()
            movement()
            workout()
            body()
        }
        var batches: [Instant: (added: [LifeSample], deleted: [SampleID])] = [:]
        for (at, sample) in added { batches[at, default: ([], [])].added.append(sample) }
        for (at, uuid) in deleted { batches[at, default: ([], [])].deleted.append(uuid) }
        return batches.sorted { $0.key < $1.key }
            .map { TimedEvent($0.key, .arrive(added: $0.value.added, deleted: $0.value.deleted)) }
    }

    private func handover(after end: Instant) -> Instant {
        let next = handovers.firstPlace(behind: { $0 < end })
        return next < handovers.count ? handovers[next] : end + PhoneLife.minute * 10
    }

    @discardableResult
    private mutating func add(
        _ type: String, from source: String = LifeSample.watch, _ start: Instant, _ end: Instant, _ value: Double,
        _ unit: String, metadata: String = "", payload: String = "", saved: Instant? = nil, arrives: Instant? = nil
    ) -> SampleID {
        let sample = LifeSample(
            uuid: random.id(), type: type, source: source, start: start, end: end, value: value, unit: unit,
            metadata: metadata, payload: payload, saved: saved ?? end)
        added.append((arrives ?? handover(after: max(end, saved ?? end)), sample))
        return sample.uuid
    }

    private static func quantity(_ name: String) -> String { "HKQuantityTypeIdentifier" + name }
    private var zoneMetadata: String { "{\"HKTimeZone\":\"\(plan.zone)\"}" }

    /// Sleep stages, all handed over in the morning.
    private mutating func night() {
        var at = plan.start - random.seconds(0, 5400)
        while at < plan.wakesAt {
            let end = min(plan.wakesAt, at + random.seconds(600, 2700))
            add(
                "HKCategoryTypeIdentifierSleepAnalysis", at, end, Double([3, 3, 4, 5, 2][random.index(5)]), "",
                metadata: zoneMetadata, saved: plan.wakesAt)
            at = end
        }
    }

    private mutating func heart() {
        var at = plan.start
        while at < plan.end {
            if plan.workout?.contains(at) != true {
                add(Self.quantity("HeartRate"), at, at, random.uniform(52, 110).rounded(), "count/min")
            }
            let seconds = 60 * plan.options.model[.heartRateMinutes]
            at += random.seconds(seconds * 0.8, seconds * 1.2) * Int64(1 / plan.options.density)
        }
        for hour in stride(from: 2, to: 23, by: 4) {
            let from = plan.start + PhoneLife.hour * hour + random.seconds(0, 3000)
            add(
                Self.quantity("HeartRateVariabilitySDNN"), from, from + PhoneLife.minute,
                random.uniform(20, 90).rounded(), "ms")
        }
        // Estimated during the day and again the next morning, each estimate replacing the previous one.
        let times = [10, 15, 21, 31].map { plan.start + PhoneLife.hour * $0 + random.seconds(0, 3000) }
        var before: SampleID?
        for at in times {
            if let before { deleted.append((handover(after: at), before)) }
            before = add(
                Self.quantity("RestingHeartRate"), plan.start, min(at, plan.end), random.uniform(48, 62).rounded(),
                "count/min", saved: at)
        }
    }

    private mutating func movement() {
        var at = plan.wakesAt
        while at < plan.sleepsAt {
            let end = at + random.seconds(45, 150)
            let minutes = (end - at).seconds / 60
            if plan.workout?.overlaps(at..<end) != true {
                if random.chance(0.6) {
                    let steps = (random.uniform(0.1, 2.2) * (end - at).seconds).rounded()
                    add(Self.quantity("StepCount"), at, end, steps, "count")
                    add(Self.quantity("DistanceWalkingRunning"), at, end, steps * 0.7, "m")
                    if random.chance(0.5) {
                        let late = end + random.seconds(60, 900)
                        add(
                            Self.quantity("StepCount"), from: LifeSample.phone, at, end, (steps * 0.9).rounded(),
                            "count", arrives: late)
                    }
                }
                add(Self.quantity("ActiveEnergyBurned"), at, end, random.uniform(0.2, 6) * minutes, "kcal")
                add(Self.quantity("BasalEnergyBurned"), at, end, random.uniform(1, 1.4) * minutes, "kcal")
            }
            at = end + random.seconds(10, 60) * Int64(1 / plan.options.density)
        }
        var hour = plan.wakesAt
        while hour < plan.sleepsAt {
            add("HKCategoryTypeIdentifierAppleStandHour", hour, hour + PhoneLife.hour, random.chance(0.8) ? 0 : 1, "")
            hour += PhoneLife.hour
        }
    }

    private mutating func workout() {
        guard let workout = plan.workout else { return }
        let done = handover(after: workout.upperBound)
        var at = workout.lowerBound
        var energy = 0.0
        let each = Duration.microseconds(Int64(plan.options.model[.workoutSampleSeconds] * 1e6))
        while at < workout.upperBound {
            add(Self.quantity("HeartRate"), at, at, random.uniform(110, 175).rounded(), "count/min", arrives: done)
            let kilocalories = random.uniform(0.5, 1.2)
            energy += kilocalories
            add(
                Self.quantity("ActiveEnergyBurned"), at, at + each, kilocalories, "kcal", arrives: done)
            at += each * Int64(1 / plan.options.density)
        }
        let statistics = "{\"type\":\"HKQuantityTypeIdentifierActiveEnergyBurned\",\"sum\":\(energy)}"
        let payload = "{\"activity\":\"running\",\"statistics\":[\(statistics)]}"
        let first = add(
            HealthType.workoutIdentifier, workout.lowerBound, workout.upperBound, .nan, "", metadata: zoneMetadata,
            payload: payload, arrives: done)
        // Two days later the end of the workout is cut off: an edit is a deletion and a new sample.
        guard random.chance(0.2) else { return }
        let edited = workout.upperBound + PhoneLife.hour * 48
        deleted.append((edited, first))
        add(
            HealthType.workoutIdentifier, workout.lowerBound, workout.upperBound - PhoneLife.minute * 5, .nan, "",
            metadata: zoneMetadata, payload: payload, saved: edited, arrives: edited)
    }

    private mutating func body() {
        guard random.chance(0.5) else { return }
        let at = plan.wakesAt + random.seconds(300, 1800)
        let kilograms = (random.uniform(70, 72) * 10).rounded() / 10
        let first = add(
            Self.quantity("BodyMass"), from: LifeSample.scale, at, at, kilograms, "kg",
            arrives: at + .seconds(30))
        guard random.chance(0.3) else { return }
        let edited = at + random.seconds(8 * 3600, 40 * 3600)
        deleted.append((edited, first))
        add(
            Self.quantity("BodyMass"), from: LifeSample.health, at, at, kilograms - 0.4, "kg", saved: edited,
            arrives: edited)
    }
}
