import BodyStage
import GenericStage
import HealthModel
import HealthStatistics
import HeartRateStage
import SleepStage
import TestSupport
import Testing
import WorkoutsStage

/// Which of several samples is the latest: never a matter of ids, which depend on the user's name, or of arrival.
@Suite struct LatestTests {
    private static let quantity = "HKQuantityTypeIdentifier"

    private struct Row {
        var type: String
        /// Seconds since 1970.
        var start: Int64
        var end: Int64
        var value: Double
        var source = "Watch"
        var created: Int64 = 0
        var flags: SampleFlags = []
        var payload = ""
    }

    private static let day = LocalDay(year: 2025, month: 6, day: 1)
    private static var morning: Int64 { Int64(day.number) * 86_400 + 8 * 3600 }

    /// The rows as a store of this user returns them.
    private static func page(_ rows: [Row], user: String) -> SamplePage {
        var page = SamplePage()
        let withIDs = rows.enumerated().map { number, row in
            let prefix = SampleKeyPrefix(user: user, type: row.type, sourceName: row.source)
            return (row, SampleID(prefix, startSecond: row.start, endSecond: row.end, ordinal: number))
        }
        for (row, id) in withIDs.sorted(by: { ($0.0.start, $0.1) < ($1.0.start, $1.1) }) {
            page.ids.append(id)
            page.sequence.append(1)
            page.types.append(row.type)
            page.type.append(Int32(page.types.firstIndex(of: row.type) ?? 0))
            page.start.append(row.start * Instant.microsecondsPerSecond)
            page.end.append(row.end * Instant.microsecondsPerSecond)
            page.value.append(row.value)
            page.origins.append(Origin(sourceName: row.source))
            page.origin.append(Int32(page.origins.count - 1))
            page.flags.append(row.flags)
            page.created.append(row.created)
            page.metadata.appendEmpty()
            page.payload.append(row.payload)
            page.healthKitUUID.append(nil)
        }
        return page
    }

    private static func input(_ handler: any DayHandler, _ rows: [Row], user: String) throws -> DayInput {
        DayInput(
            user: user, day: day, window: try handler.window([:]), zones: try ZoneTimeline(zone: "GMT"),
            cutting: page(rows, user: user),
            configuration: ["newestOfRepeats": true, "dateOfBirth": "1986-05-17"],
            characteristics: ["ownTypes": ["Mood": ["aggregation": "latest", "unit": ""]]])
    }

    private static let users = ["anna", "ben", "me", "Zoë", "🙂"]

    /// Two resting rates of 08:00, of which one counts for everybody.
    @Test(
        arguments: [
            (end: (60, 0), created: (0, 0), values: (55.0, 52.0), latest: 55.0),
            ((60, 61), (9, 1), (55, 52), 52),
            ((60, 60), (1, 2), (55, 52), 52), ((60, 60), (2, 1), (55, 52), 55),
            ((60, 60), (0, 1), (55, 52), 52), ((60, 60), (3, 3), (52, 55), 55),
        ] as [(end: (Int64, Int64), created: (Int64, Int64), values: (Double, Double), latest: Double)])
    func endThenCreationThenValueDecide(
        _ ends: (Int64, Int64), _ created: (Int64, Int64), _ values: (Double, Double), _ latest: Double
    ) throws {
        let type = Self.quantity + "RestingHeartRate"
        let rows = [
            Row(type: type, start: Self.morning, end: Self.morning + ends.0, value: values.0, created: created.0),
            Row(
                type: type, start: Self.morning, end: Self.morning + ends.1, value: values.1, source: "Ring",
                created: created.1),
        ]
        for user in Self.users {
            for rows in [rows, rows.reversed()] {
                let output = try HeartRateHandler().compute(Self.input(HeartRateHandler(), rows, user: user))
                #expect(output.figures["heartRate"]?["resting"].double == latest, "\(user)")
            }
        }
    }

    private static let handlers: [any DayHandler] = [
        HeartRateHandler(), BodyHandler(), GenericHandler(), SleepHandler(), WorkoutsHandler(),
    ]

    private static let types =
        [
            "RestingHeartRate", "HeartRate", "HeartRateVariabilitySDNN", "BodyMass", "Height", "BodyMassIndex",
            "BodyFatPercentage", "RespiratoryRate",
        ].map { quantity + $0 } + ["Mood", "HKQuantityTypeIdentifierNobodyKnows"]

    /// Few possible times, values and sources, so that nearly everything ties. Numbers are whole, so that sums are
    /// exact in any order.
    private static func rows(_ random: inout SeededRandom) -> [Row] {
        func time(_ random: inout SeededRandom) -> Int64 { morning + 60 * Int64.random(in: 0...3, using: &random) }
        func source(_ random: inout SeededRandom) -> String {
            ["Watch", "Ring", "Runner"].randomElement(using: &random) ?? "Watch"
        }
        var rows: [Row] = []
        for type in types + types {
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let start = time(&random)
                rows.append(
                    Row(
                        type: type, start: start, end: start + 30 * Int64.random(in: 0...1, using: &random),
                        value: Double(Int.random(in: 100...104, using: &random)), source: source(&random),
                        created: .random(in: 0...2, using: &random),
                        flags: Int.random(in: 0..<4, using: &random) == 0 ? .userEntered : []))
            }
        }
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let start = time(&random) - 8 * 3600
            rows.append(
                Row(
                    type: HealthType.sleepIdentifier, start: start,
                    end: start + 600 * Int64.random(in: 1...2, using: &random),
                    value: Double(Int.random(in: 0...5, using: &random)), source: source(&random)))
        }
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let activity = ["Running", "Yoga"].randomElement(using: &random) ?? "Yoga"
            let meters = Int.random(in: 1...2, using: &random)
            rows.append(
                Row(
                    type: HealthType.workoutIdentifier, start: morning,
                    end: morning + 600 * Int64.random(in: 1...2, using: &random), value: .nan, source: source(&random),
                    created: .random(in: 0...1, using: &random),
                    payload: #"{"activity":"HKWorkoutActivityType\#(activity)","totalDistanceMeters":\#(meters)}"#))
        }
        return rows
    }

    @Test func nobodysNameDecides() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let rows = Self.rows(&random)
            for handler in Self.handlers {
                let expected = try handler.compute(Self.input(handler, rows, user: "anna"))
                for user in Self.users {
                    let input = try Self.input(handler, rows.shuffled(using: &random), user: user)
                    let found = try handler.compute(input)
                    #expect(
                        Self.withoutIDs(.object(found.figures)) == Self.withoutIDs(.object(expected.figures)),
                        "seed \(seed), \(user)")
                    #expect(found.hourly == expected.hourly, "seed \(seed), \(user)")
                    #expect(
                        found.events.map { Self.withoutIDs($0.payload) }
                            == expected.events.map { Self.withoutIDs($0.payload) }, "seed \(seed), \(user)")
                }
            }
        }
    }

    /// `explain` names the sample that the figure comes from.
    @Test func explainAgrees() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let rows = Self.rows(&random)
            for type in Self.types {
                let explained = try Self.users.map { user in
                    let input = try Self.input(HeartRateHandler(), rows.shuffled(using: &random), user: user)
                    let rows = input.samples.rows(of: type)
                    let figure = DiscreteStatistics(input.samples, rows: rows, style: .arithmetic, in: input.window)
                    let parts = DiscreteExplanation(
                        input.samples, rows: rows, style: .arithmetic, order: SourceOrder(), in: input.window)
                    #expect(parts.latest?.value == figure.mostRecent, "seed \(seed), \(type)")
                    #expect(parts.all.mostRecent == figure.mostRecent, "seed \(seed), \(type)")
                    return parts.samples
                }
                #expect(explained.allSatisfy { $0 == explained[0] }, "seed \(seed), \(type)")
            }
        }
    }

    private static func withoutIDs(_ value: Value) -> Value {
        if let elements = value.array { return .array(elements.map(withoutIDs)) }
        guard let members = value.object else { return value }
        return .object(members.filter { $0.key != "id" }.mapValues(withoutIDs))
    }
}
