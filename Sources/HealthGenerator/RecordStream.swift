import HealthModel

/// The records of one type from one source: how many there are per day, and what they contain.
struct RecordStream {
    enum Shape {
        /// Amounts over intervals, at a rate per second during waking hours, or all day.
        case amounts(perSecond: Double, wholeDay: Bool, isWhole: Bool)
        /// Instants spread over the whole day, with a mean and a deviation.
        case moments(mean: Double, deviation: Double, isWhole: Bool)
        /// Instants as above, but only while awake or asleep.
        case awakeMoments(mean: Double, deviation: Double)
        case asleepMoments(mean: Double, deviation: Double)
        case heartRate, variability, soundLevel, sleepStages, timeInBed, standHours, mindfulness, exerciseMinutes,
            bodyMass
    }

    let type: String
    let source: RecordSource
    let unit: PrintedUnit.Kind
    /// How many records there are in an ordinary life.
    let perDay: Double
    /// Whether the number of records grows with the requested density; for other streams it has a natural limit.
    var scales = true
    let shape: Shape
    /// The metadata of every record, as keys and values.
    var metadata: [(String, String)] = []
    /// The ring that its records add to.
    var ring: RingLedger.Part?

    static let height = quantity("Height", .byHand, .height, 0, scales: false, .bodyMass, [("HKWasUserEntered", "1")])

    /// All streams, in the order of the export file.
    static let all: [RecordStream] = [
        quantity("BodyMass", .scale, .mass, 0.8, scales: false, .bodyMass, [("HKMetadataKeySyncVersion", "1")]),
        quantity("BodyMass", .byHand, .mass, 0.05, scales: false, .bodyMass, [("HKWasUserEntered", "1")]),
        quantity("HeartRate", .watch, .plain("count/min"), 300, .heartRate),
        quantity(
            "OxygenSaturation", .watch, .plain("%"), 10, .moments(mean: 0.967, deviation: 0.012, isWhole: false),
            [("HKMetadataKeyBarometricPressure", "101.325 kPa")]),
        quantity("RespiratoryRate", .watch, .plain("count/min"), 14, .asleepMoments(mean: 14.5, deviation: 1.2)),
        quantity("StepCount", .phone, .plain("count"), 45, .amounts(perSecond: 0.11, wholeDay: false, isWhole: true)),
        quantity("StepCount", .watch, .plain("count"), 70, .amounts(perSecond: 0.15, wholeDay: false, isWhole: true)),
        quantity(
            "DistanceWalkingRunning", .phone, .distance, 45, .amounts(perSecond: 0.08, wholeDay: false, isWhole: false)),
        quantity(
            "DistanceWalkingRunning", .watch, .distance, 120,
            .amounts(perSecond: 0.11, wholeDay: false, isWhole: false),
            [("HKMetadataKeyAppleDeviceCalibrated", "1")]),
        quantity(
            "BasalEnergyBurned", .watch, .energy, 160, .amounts(perSecond: 0.0195, wholeDay: true, isWhole: false)),
        quantity(
            "ActiveEnergyBurned", .phone, .energy, 12, .amounts(perSecond: 0.004, wholeDay: false, isWhole: false),
            ring: .phoneEnergy),
        quantity(
            "ActiveEnergyBurned", .watch, .energy, 220, .amounts(perSecond: 0.009, wholeDay: false, isWhole: false),
            ring: .watchEnergy),
        quantity(
            "FlightsClimbed", .phone, .plain("count"), 6, .amounts(perSecond: 0.00018, wholeDay: false, isWhole: true)),
        quantity(
            "FlightsClimbed", .watch, .plain("count"), 7, .amounts(perSecond: 0.0002, wholeDay: false, isWhole: true)),
        quantity("AppleExerciseTime", .watch, .plain("min"), 25, .exerciseMinutes, ring: .exercise),
        quantity(
            "RestingHeartRate", .watch, .plain("count/min"), 1, scales: false,
            .moments(mean: 57, deviation: 2, isWhole: true)),
        quantity(
            "VO2Max", .watch, .plain("mL/min·kg"), 0.2, scales: false, .awakeMoments(mean: 43, deviation: 0.8),
            [("HKVO2MaxTestType", "2")]),
        quantity(
            "WalkingSpeed", .phone, .speed, 8, .awakeMoments(mean: 1.35, deviation: 0.09),
            [("HKMetadataKeyDevicePlacementSide", "2")]),
        quantity(
            "WalkingStepLength", .phone, .step, 8, .awakeMoments(mean: 0.72, deviation: 0.04),
            [("HKMetadataKeyDevicePlacementSide", "2")]),
        quantity(
            "AppleStandTime", .watch, .plain("min"), 30, .amounts(perSecond: 0.002, wholeDay: false, isWhole: true)),
        quantity("HeadphoneAudioExposure", .phone, .plain("dBASPL"), 12, .soundLevel),
        quantity(
            "HeartRateVariabilitySDNN", .watch, .plain("ms"), 6, .variability, [("HKAlgorithmVersion", "2")]),
        category("SleepAnalysis", .phone, 1, scales: false, .timeInBed),
        category("SleepAnalysis", .watch, 18, .sleepStages),
        category("AppleStandHour", .watch, 14, scales: false, .standHours, ring: .stand),
        category("MindfulSession", .meditation, 0.4, scales: false, .mindfulness),
    ]

    private static func quantity(
        _ type: String, _ source: RecordSource, _ unit: PrintedUnit.Kind, _ perDay: Double, scales: Bool = true,
        _ shape: Shape, _ metadata: [(String, String)] = [], ring: RingLedger.Part? = nil
    ) -> RecordStream {
        RecordStream(
            type: "HKQuantityTypeIdentifier" + type, source: source, unit: unit, perDay: perDay, scales: scales,
            shape: shape, metadata: metadata, ring: ring)
    }

    private static func category(
        _ type: String, _ source: RecordSource, _ perDay: Double, scales: Bool = true, _ shape: Shape,
        ring: RingLedger.Part? = nil
    ) -> RecordStream {
        RecordStream(
            type: "HKCategoryTypeIdentifier" + type, source: source, unit: .plain(""), perDay: perDay, scales: scales,
            shape: shape, ring: ring)
    }
}

/// How many records each stream has on each day. In an ordinary life the counts depend only on the date, so that a
/// longer period contains a shorter one; otherwise they add up to exactly what was requested.
struct RecordCounts {
    /// A blood-pressure reading is four `Record` elements: two in its correlation, and two repeating them at top level.
    static let recordsPerReading = 4
    private static let readingsPerDay = 0.1
    /// The day from which days are counted: the last one of an export, unless specified otherwise.
    private static let lastDay = LocalDay(year: 2025, month: 4, day: 5).number

    /// The number of records requested for all days together; nil for an ordinary life.
    private let requested: (streams: [Int], readings: Int)?
    let hasHeight: Bool

    init(days: Int, records: Int?) {
        guard let records else {
            requested = nil
            hasHeight = true
            return
        }
        let all = RecordStream.all
        let natural = all.map { Int(($0.perDay * Double(days)).rounded()) }
        let naturalReadings = Int((Self.readingsPerDay * Double(days)).rounded())
        let total = natural.reduce(0, +) + naturalReadings * Self.recordsPerReading + 1
        let share = min(1, Double(records) / Double(total))
        let hasHeight = records >= 50
        let readings = Int(Double(naturalReadings) * share)
        var counts = zip(all, natural).map { $0.scales ? 0 : Int(Double($1) * share) }
        let fixed = counts.reduce(0, +) + readings * Self.recordsPerReading + (hasHeight ? 1 : 0)
        let rest = max(0, records - fixed)
        let weights = all.map { $0.scales ? $0.perDay : 0 }
        let sum = weights.reduce(0, +)
        for index in all.indices where all[index].scales { counts[index] = Int(Double(rest) * weights[index] / sum) }
        // What is left after rounding goes to heart rates, which have the most records.
        let left = records - fixed - all.indices.filter { all[$0].scales }.map { counts[$0] }.reduce(0, +)
        if let heart = all.firstIndex(where: { $0.type.hasSuffix("IdentifierHeartRate") }) { counts[heart] += left }
        requested = (counts, readings)
        self.hasHeight = hasHeight
    }

    /// How many records a stream has on a day.
    /// - Parameters:
    ///   - stream: its index in `RecordStream.all`.
    ///   - index: the day's index among all `days`.
    func records(of stream: Int, on day: LocalDay, _ index: Int, of days: Int) -> Int {
        guard let requested else { return Self.natural(RecordStream.all[stream].perDay, on: day) }
        return Self.part(requested.streams[stream], day: index, of: days)
    }

    /// How many blood-pressure readings there are on a day.
    func readings(on day: LocalDay, _ index: Int, of days: Int) -> Int {
        guard let requested else { return Self.natural(Self.readingsPerDay, on: day) }
        return Self.part(requested.readings, day: index, of: days)
    }

    /// The number of `Record` elements on all of these days.
    func total(of plans: [DayPlan]) -> Int {
        plans.enumerated().reduce(hasHeight ? 1 : 0) { sum, entry in
            let (index, day) = (entry.offset, entry.element.day)
            let streams = RecordStream.all.indices.reduce(0) {
                $0 + records(of: $1, on: day, index, of: plans.count)
            }
            return sum + streams + readings(on: day, index, of: plans.count) * Self.recordsPerReading
        }
    }

    /// One day's share of a rate, evenly spread over the calendar.
    private static func natural(_ perDay: Double, on day: LocalDay) -> Int {
        // Rates have two decimals at most.
        let hundredths = Int((perDay * 100).rounded())
        /// The total up to that day, rounded down.
        func past(_ days: Int) -> Int {
            let amount = hundredths * days
            return amount >= 0 ? amount / 100 : -((99 - amount) / 100)
        }
        return past(day.number - lastDay) - past(day.number - lastDay - 1)
    }

    /// One day's share of a count; the shares of all days add up to the count.
    private static func part(_ count: Int, day index: Int, of days: Int) -> Int {
        count * (index + 1) / days - count * index / days
    }
}
