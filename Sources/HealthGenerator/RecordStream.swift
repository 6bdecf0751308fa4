import HealthModel

/// The records of one type from one source: how many there are per day, and what they contain.
struct RecordStream: Sendable {
    enum Shape: Sendable {
        /// Amounts over intervals, which follow from what the person does.
        case amounts(Amount)
        /// Instants over the whole day.
        case moments(Vital)
        /// Instants as above, but only while awake, asleep or walking.
        case awakeMoments(Vital)
        case asleepMoments(Vital)
        case walkingMoments(Vital)
        case heartRate, variability, soundLevel, sleepStages, timeInBed, standHours, mindfulness, exerciseMinutes,
            bodyMass
        case messy(Mess.Shape)
    }

    enum Amount: Sendable { case steps, distance, cycling, activeEnergy, basalEnergy, flights, standing }

    enum Vital: Sendable { case oxygen, breaths, restingRate, vo2Max, walkingSpeed, stepLength }

    /// How many records an ordinary day has.
    enum Density: Sendable {
        /// On average; the same for everyone. Fixed ones have a natural limit: they don't grow with the requested
        /// number of records.
        case daily(Double, isFixed: Bool)
        /// By what the person does.
        case paced(Pacing)
        /// As many as there are: stages, hours, minutes of exercise.
        case counted(@Sendable (DayPlan, Person) -> Int)
    }

    /// Seconds from one record to the next, by what the person does; nil for no records.
    struct Pacing: Sendable {
        private var seconds = [Double?](repeating: nil, count: Stretch.Kind.allCases.count)

        init(_ seconds: [Stretch.Kind: Double]) {
            for (kind, length) in seconds { self.seconds[kind.rawValue] = length }
        }

        subscript(kind: Stretch.Kind) -> Double? { seconds[kind.rawValue] }
    }

    let type: String
    let source: RecordSource
    let unit: PrintedUnit.Kind
    let density: Density
    let shape: Shape
    /// The metadata of every record, as keys and values.
    var metadata: [(String, String)] = []
    /// The ring that its records add to.
    var ring: RingLedger.Part?
    /// Distinguishes the random numbers of streams; the same for a stream in every life.
    var subject: UInt64 = 0

    var scales: Bool {
        switch density {
        case .daily(_, let isFixed): !isFixed
        case .paced: true
        case .counted: false
        }
    }

    /// How many records this stream has in a stretch of an ordinary day.
    func records(in stretch: Stretch, of plan: DayPlan) -> Int {
        guard case .paced(let pacing) = density, let seconds = pacing[stretch.kind] else { return 0 }
        if case .phone = source, !stretch.carriesPhone, stretch.kind != .charging { return 0 }
        if case .amounts(let amount) = shape {
            switch (amount, plan.workout?.activity) {
            case (.flights, _): return stretch.climb > 0 ? 1 : 0
            case (.cycling, let activity) where stretch.kind == .workout && activity != .cycling: return 0
            case (.steps, .cycling) where stretch.kind == .workout: return 0
            case (.distance, .cycling) where stretch.kind == .workout: return 0
            default: break
            }
        }
        return max(1, Int((Double(stretch.length) / seconds).rounded()))
    }

    /// How many records this stream has on an ordinary day.
    func records(on plan: DayPlan, _ person: Person) -> Int {
        switch density {
        case .daily(let perDay, _): RecordCounts.natural(perDay, on: plan.day)
        case .paced: plan.stretches.reduce(0) { $0 + records(in: $1, of: plan) }
        case .counted(let count): count(plan, person)
        }
    }
}

extension RecordStream {
    static let height = quantity(
        "Height", .byHand, .height, .daily(0, isFixed: true), .bodyMass, [("HKWasUserEntered", "1")])

    /// The streams of an ordinary life, in the order of the export file.
    static let ordinary: [RecordStream] = [
        quantity("BodyMass", .scale, .mass, .daily(0.8, isFixed: true), .bodyMass, [("HKMetadataKeySyncVersion", "1")]),
        quantity("BodyMass", .byHand, .mass, .daily(0.05, isFixed: true), .bodyMass, [("HKWasUserEntered", "1")]),
        quantity(
            "HeartRate", .watch, .plain("count/min"),
            // A watch measures every few minutes, and every five seconds in a workout.
            paced([
                .asleep: 480, .sitting: 420, .about: 300, .walking: 180, .workout: 5, .pause: 5,
            ]), .heartRate),
        quantity(
            "OxygenSaturation", .watch, .plain("%"), .daily(10, isFixed: false), .moments(.oxygen),
            [("HKMetadataKeyBarometricPressure", "101.325 kPa")]),
        quantity(
            "RespiratoryRate", .watch, .plain("count/min"), .daily(14, isFixed: false), .asleepMoments(.breaths)),
        quantity(
            "StepCount", .phone, .plain("count"), paced([.about: 300, .walking: 240, .charging: 300]), .amounts(.steps)),
        quantity(
            "StepCount", .watch, .plain("count"), paced([.about: 200, .walking: 240, .workout: 60]), .amounts(.steps)),
        quantity(
            "DistanceWalkingRunning", .phone, .distance, paced([.about: 300, .walking: 240, .charging: 300]),
            .amounts(.distance)),
        quantity(
            "DistanceWalkingRunning", .watch, .distance, paced([.about: 150, .walking: 90, .workout: 30]),
            .amounts(.distance), [("HKMetadataKeyAppleDeviceCalibrated", "1")]),
        quantity("DistanceCycling", .watch, .distance, paced([.workout: 60]), .amounts(.cycling)),
        quantity(
            "BasalEnergyBurned", .watch, .energy,
            paced([
                .asleep: 900, .sitting: 720, .about: 600, .walking: 600, .workout: 120, .pause: 120,
            ]), .amounts(.basalEnergy)),
        quantity(
            "ActiveEnergyBurned", .phone, .energy, paced([.walking: 600, .charging: 1200]), .amounts(.activeEnergy),
            ring: .phoneEnergy),
        quantity(
            "ActiveEnergyBurned", .watch, .energy,
            paced([.sitting: 600, .about: 150, .walking: 90, .workout: 60, .pause: 300]), .amounts(.activeEnergy),
            ring: .watchEnergy),
        quantity(
            "FlightsClimbed", .phone, .plain("count"), paced([.about: 1, .walking: 1]), .amounts(.flights)),
        quantity(
            "FlightsClimbed", .watch, .plain("count"), paced([.about: 1, .walking: 1]), .amounts(.flights)),
        quantity(
            "AppleExerciseTime", .watch, .plain("min"), .counted { plan, _ in plan.exerciseMinutes().count },
            .exerciseMinutes, ring: .exercise),
        quantity(
            "RestingHeartRate", .watch, .plain("count/min"), .daily(1, isFixed: true), .moments(.restingRate)),
        quantity(
            "VO2Max", .watch, .plain("mL/min·kg"), .daily(0.2, isFixed: true), .awakeMoments(.vo2Max),
            [("HKVO2MaxTestType", "2")]),
        quantity(
            "WalkingSpeed", .phone, .speed, paced([.walking: 300]), .walkingMoments(.walkingSpeed),
            [("HKMetadataKeyDevicePlacementSide", "2")]),
        quantity(
            "WalkingStepLength", .phone, .step, paced([.walking: 300]), .walkingMoments(.stepLength),
            [("HKMetadataKeyDevicePlacementSide", "2")]),
        quantity(
            "AppleStandTime", .watch, .plain("min"), paced([.about: 300, .walking: 300, .workout: 300]),
            .amounts(.standing)),
        quantity("HeadphoneAudioExposure", .phone, .plain("dBASPL"), .daily(12, isFixed: false), .soundLevel),
        quantity(
            "HeartRateVariabilitySDNN", .watch, .plain("ms"), .daily(6, isFixed: false), .variability,
            [("HKAlgorithmVersion", "2")]),
        category("SleepAnalysis", .phone, .daily(1, isFixed: true), .timeInBed),
        category("SleepAnalysis", .watch, .counted { Hypnogram($0, $1).stages.count }, .sleepStages),
        category("AppleStandHour", .watch, .counted { plan, _ in plan.standHours().count }, .standHours, ring: .stand),
        category("MindfulSession", .meditation, .daily(0.4, isFixed: true), .mindfulness),
    ].enumerated().map { index, stream in
        var stream = stream
        stream.subject = UInt64(index + 1)
        return stream
    }

    static func paced(_ seconds: [Stretch.Kind: Double]) -> Density { .paced(Pacing(seconds)) }

    static func quantity(
        _ type: String, _ source: RecordSource, _ unit: PrintedUnit.Kind, _ density: Density, _ shape: Shape,
        _ metadata: [(String, String)] = [], ring: RingLedger.Part? = nil
    ) -> RecordStream {
        RecordStream(
            type: "HKQuantityTypeIdentifier" + type, source: source, unit: unit, density: density, shape: shape,
            metadata: metadata, ring: ring)
    }

    static func category(
        _ type: String, _ source: RecordSource, _ density: Density, _ shape: Shape, ring: RingLedger.Part? = nil
    ) -> RecordStream {
        RecordStream(
            type: "HKCategoryTypeIdentifier" + type, source: source, unit: .plain(""), density: density, shape: shape,
            ring: ring)
    }
}
