import BodyStage
import EnergyStage
import GenericStage
import HealthModel
import HeartRateStage
import SleepStage
import StepsStage
import TestSupport
import WorkoutsStage

/// Made-up days of a person with several sources, and what the handlers compute from them.
struct ExplainedLife {
    static let day = LocalDay(year: 2025, month: 3, day: 30)
    private static let sources = ["Anna’s Apple Watch", "iPhone", "Ring", "Runner"]
    private static let quantity = "HKQuantityTypeIdentifier"
    private static let minute = Duration.seconds(60)

    let zones: ZoneTimeline
    var configuration: Value = [:]
    private(set) var page = SamplePage()
    private var random: SeededRandom

    private struct Row {
        var id: SampleID
        var type: String
        var start: Instant
        var end: Instant
        var value: Double
        var source: String
        var flags: SampleFlags = []
        var payload = ""
        var created: Int64 = 0
    }

    private var rows: [Row] = []

    /// Types, each with the longest duration of its samples (in minutes) and the range of their values.
    static let types: [(type: String, minutes: Int64, values: ClosedRange<Double>)] = [
        (quantity + "StepCount", 15, 0...900), (quantity + "DistanceWalkingRunning", 15, 0...900),
        (quantity + "FlightsClimbed", 1, 1...4), (quantity + "ActiveEnergyBurned", 20, 0...90),
        (quantity + "BasalEnergyBurned", 60, 10...80), (quantity + "AppleExerciseTime", 1, 1...1),
        (quantity + "AppleMoveTime", 1, 1...1), (quantity + "AppleStandTime", 5, 1...5),
        (quantity + "DistanceCycling", 30, 0...9000), (quantity + "HeartRate", 1, 40...190),
        (quantity + "RestingHeartRate", 0, 45...60), (quantity + "HeartRateVariabilitySDNN", 1, 20...90),
        (quantity + "BodyMass", 0, 70...72), (quantity + "Height", 0, 1.7...1.8),
        (quantity + "BodyMassIndex", 0, 20...25), (quantity + "BodyFatPercentage", 0, 0.1...0.2),
        (quantity + "RespiratoryRate", 0, 10...20), (quantity + "EnvironmentalAudioExposure", 30, 40...90),
        ("HKCategoryTypeIdentifierMindfulSession", 20, 0...0), ("HKCategoryTypeIdentifierHeadache", 1800, 0...4),
        ("HKQuantityTypeIdentifierNobodyKnows", 5, 1...9),
    ]

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        let landed = Instant(seconds: Int64(Self.day.number) * 86_400 + 13 * 3600)
        let flies = seed % 3 == 0
        zones = try ZoneTimeline(
            [.init(from: .distantPast, zone: "Europe/Berlin")]
                + (flies ? [.init(from: landed, zone: "Asia/Tokyo")] : []))
        configuration = [
            "gapMinutes": [20.0, 60.0, 90.0].randomElement(using: &random) ?? 60.0, "windowHour": 18,
            "newestOfRepeats": .bool(seed % 2 == 0),
        ]
        for entry in Self.types where Int.random(in: 0..<8, using: &random) > 0 {
            for _ in 0..<Int.random(in: 1...(entry.minutes > 1000 ? 2 : 30), using: &random) {
                let start = moment()
                rows.append(
                    Row(
                        id: id(), type: entry.type, start: start,
                        end: start + .seconds(Int64.random(in: 0...entry.minutes * 60, using: &random)),
                        value: .random(in: entry.values, using: &random), source: source(),
                        flags: Int.random(in: 0..<12, using: &random) == 0 ? .userEntered : []))
            }
            if HealthType.named(entry.type).style == .cumulative { addSum(of: entry.type) }
        }
        addSleep()
        addStandHours()
        addWorkouts()
        build()
    }

    private mutating func id() -> SampleID { SampleID(high: random.next(), low: random.next()) }
    private mutating func source() -> String { Self.sources.randomElement(using: &random) ?? "Ring" }

    /// A moment within three days, the middle one of which is explained.
    private mutating func moment() -> Instant {
        let noon = Instant(seconds: Int64(Self.day.number) * 86_400 + 43_200)
        return noon + Int64.random(in: -36 * 60...36 * 60, using: &random) * Self.minute
    }

    /// What a band added up over many hours, or over a day, which it stores as an instant.
    private mutating func addSum(of type: String) {
        guard let hours = [nil, 0, 6, 24].randomElement(using: &random) ?? nil else { return }
        let start = moment()
        rows.append(
            Row(
                id: id(), type: type, start: start, end: start + .seconds(3600 * hours),
                value: .random(in: 0...9000, using: &random), source: "Band"))
    }

    private mutating func addSleep() {
        for _ in 0..<Int.random(in: 0...30, using: &random) {
            let start = moment()
            rows.append(
                Row(
                    id: id(), type: "HKCategoryTypeIdentifierSleepAnalysis", start: start,
                    end: start + Self.minute * Int64.random(in: 0...120, using: &random),
                    value: Double(Int.random(in: 0...6, using: &random)), source: source()))
        }
    }

    private mutating func addStandHours() {
        for _ in 0..<Int.random(in: 0...30, using: &random) {
            let start = Instant(seconds: moment().flooredSecond / 3600 * 3600)
            rows.append(
                Row(
                    id: id(), type: "HKCategoryTypeIdentifierAppleStandHour", start: start,
                    end: start + .seconds(3600), value: Double(Int.random(in: 0...1, using: &random)),
                    source: source()))
        }
    }

    private mutating func addWorkouts() {
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            let (start, source) = (moment(), source())
            let activity = ["Running", "Walking", "Yoga"].randomElement(using: &random) ?? "Yoga"
            for _ in 0..<([1, 1, 1, 6].randomElement(using: &random) ?? 1) {
                rows.append(
                    Row(
                        id: id(), type: HealthType.workoutIdentifier, start: start,
                        end: start + Self.minute * Int64.random(in: 1...90, using: &random), value: .nan,
                        source: source,
                        payload: payload(activity), created: .random(in: 0...3, using: &random)))
            }
        }
    }

    private mutating func payload(_ activity: String) -> String {
        func statistic(_ type: String, _ more: String) -> String { #"{"type":"\#(Self.quantity)\#(type)",\#(more)}"# }
        var members = [#""activity":"HKWorkoutActivityType\#(activity)""#]
        if Bool.random(using: &random) {
            members.append(#""durationSeconds":\#(Int.random(in: 0...4000, using: &random))"#)
        }
        if Bool.random(using: &random) {
            members.append(#""totalDistanceMeters":\#(Int.random(in: 0...9000, using: &random))"#)
        }
        if Bool.random(using: &random) {
            members.append(#""totalEnergyKilocalories":\#(Int.random(in: 0...700, using: &random))"#)
        }
        var statistics: [String] = []
        if Bool.random(using: &random) { statistics.append(statistic("DistanceWalkingRunning", #""sum":1234.5"#)) }
        if Bool.random(using: &random) { statistics.append(statistic("DistanceSwimming", #""sum":400"#)) }
        if Bool.random(using: &random) { statistics.append(statistic("ActiveEnergyBurned", #""sum":321.25"#)) }
        if Int.random(in: 0..<4, using: &random) == 0 {
            statistics.append(statistic("HeartRate", #""average":120,"minimum":90,"maximum":150"#))
        }
        if !statistics.isEmpty { members.append(#""statistics":[\#(statistics.joined(separator: ","))]"#) }
        return "{\(members.joined(separator: ","))}"
    }

    private mutating func build() {
        func index<Element: Equatable>(_ element: Element, in list: inout [Element]) -> Int32 {
            if let found = list.firstIndex(of: element) { return Int32(found) }
            list.append(element)
            return Int32(list.count - 1)
        }
        for row in rows.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
            page.ids.append(row.id)
            page.sequence.append(1)
            page.type.append(index(row.type, in: &page.types))
            page.start.append(row.start.microseconds)
            page.end.append(row.end.microseconds)
            page.value.append(row.value)
            page.origin.append(index(Origin(sourceName: row.source), in: &page.origins))
            page.flags.append(row.flags)
            page.created.append(row.created)
            page.payload.append(row.payload)
        }
    }

    private static let handlers: [(handler: any DayHandler, types: Set<String>)] = [
        (StepsHandler(), named("StepCount", "DistanceWalkingRunning", "FlightsClimbed")),
        (HeartRateHandler(), named("HeartRate", "RestingHeartRate", "HeartRateVariabilitySDNN")),
        (
            EnergyHandler(),
            named("ActiveEnergyBurned", "BasalEnergyBurned", "AppleExerciseTime", "AppleMoveTime", "AppleStandTime")
                .union(["HKCategoryTypeIdentifierAppleStandHour"])
        ),
        (BodyHandler(), named("BodyMass", "Height", "BodyMassIndex", "BodyFatPercentage")),
        (SleepHandler(), ["HKCategoryTypeIdentifierSleepAnalysis"]),
        (WorkoutsHandler(), [HealthType.workoutIdentifier]),
    ]

    private static func named(_ names: String...) -> Set<String> { Set(names.map { quantity + $0 }) }

    /// The input that a handler, or an explanation, gets for the day.
    func input(_ traits: any HandlerTraits, _ isWanted: (String) -> Bool) throws -> DayInput {
        DayInput(
            user: "me", day: Self.day, window: try traits.window(configuration), zones: zones,
            cutting: page.filter { isWanted(page.typeName($0)) }, configuration: configuration)
    }

    /// The figures of all handlers for the day, side by side as the consolidator combines them.
    func summary() throws -> Value {
        var members: [String: Value] = [:]
        for (handler, types) in Self.handlers {
            let all = types.union(handler.during.keys)
            members.merge(try handler.compute(input(handler) { all.contains($0) }).figures) { $1 }
        }
        let named = Self.handlers.reduce(into: Set<String>()) { $0.formUnion($1.types) }
        members.merge(try GenericHandler().compute(input(GenericHandler()) { !named.contains($0) }).figures) { $1 }
        return .object(members)
    }
}
