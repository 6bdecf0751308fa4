import HealthModel
import HealthStatistics
import TestSupport
import Testing
import WorkoutsStage

/// Workouts that one source wrote several times with the same start and activity.
@Suite struct WorkoutRepeatsTests {
    struct Written {
        var low: UInt64
        var start = "2025-06-01T08:00:00Z"
        var end = "2025-06-01T09:00:00Z"
        var source = "Runner"
        var activity = "HKWorkoutActivityTypeRunning"
        var created: Int64 = 0
        var meters = 5000
        var flags: SampleFlags = []
    }

    static func page(_ list: [Written]) throws -> SamplePage {
        var page = SamplePage()
        page.types = [HealthType.workoutIdentifier]
        for one in list {
            page.ids.append(SampleID(high: 1, low: one.low))
            page.sequence.append(Int64(page.ids.count))
            page.type.append(0)
            page.start.append(try #require(InstantText.parse(one.start)).microseconds)
            page.end.append(try #require(InstantText.parse(one.end)).microseconds)
            page.value.append(.nan)
            page.origins.append(Origin(sourceName: one.source))
            page.origin.append(Int32(page.origins.count - 1))
            page.flags.append(one.flags)
            page.created.append(one.created)
            page.payload.append(#"{"activity":"\#(one.activity)","totalDistanceMeters":\#(one.meters)}"#)
            page.healthKitUUID.append(nil)
        }
        return page
    }

    static func input(_ list: [Written], newest: Bool) throws -> DayInput {
        DayInput(
            user: "anna", day: LocalDay(year: 2025, month: 6, day: 1), window: HandlerWindow(),
            zones: try ZoneTimeline(zone: "Europe/Berlin"), cutting: try page(list),
            configuration: newest ? ["newestOfRepeats": true] : [:])
    }

    /// The last part of the id of each workout that counts, in order.
    static func counted(_ list: [Written], newest: Bool = true) throws -> [String] {
        let output = try WorkoutsHandler().compute(input(list, newest: newest))
        let figures = output.figures["workouts"]?.array ?? []
        #expect(output.events.map(\.id) == figures.compactMap { $0["id"].string })
        return output.events.map { String($0.id.suffix(2)) }
    }

    private static let six = [
        Written(low: 1, created: 100), Written(low: 2, created: 300, meters: 5100), Written(low: 3, created: 200),
        Written(low: 4), Written(low: 5, end: "2025-06-01T09:30:00Z", created: 299), Written(low: 6, created: 100),
    ]

    @Test func onlyWithTheOptionDoTheyCountOnce() throws {
        // All start together: they are listed by end, then by creation.
        #expect(try Self.counted(Self.six, newest: false) == ["04", "01", "06", "03", "02", "05"])
        #expect(try Self.counted(Self.six) == ["02"])
    }

    @Test(
        arguments: [
            Written(low: 9, start: "2025-06-01T08:00:01Z"), Written(low: 9, source: "Watch"),
            Written(low: 9, activity: "HKWorkoutActivityTypeWalking"),
        ]) func whatDiffersInStartSourceOrActivityIsAnother(_ other: Written) throws
    {
        #expect(try Self.counted(Self.six + [other]).sorted() == ["02", "09"])
    }

    /// The newest one is determined first by when HealthKit stored it, then by its end, and then by its content.
    @Test(
        arguments: [
            ([Written(low: 1, created: 5), Written(low: 2, created: 6)], "02"),
            ([Written(low: 1, end: "2025-06-01T10:00:00Z", created: 5), Written(low: 2, created: 6)], "02"),
            ([Written(low: 1), Written(low: 2, created: 1)], "02"),
            ([Written(low: 1, end: "2025-06-01T09:00:01Z", created: 5), Written(low: 2, created: 5)], "01"),
            ([Written(low: 1, meters: 4), Written(low: 2, meters: 3)], "01"),
            ([Written(low: 1), Written(low: 2)], "02"),
        ] as [([Written], String)]) func newestIsDecidedAlways(_ list: [Written], _ newest: String) throws
    {
        #expect(try Self.counted(list) == [newest])
        // The order of arrival doesn't matter.
        #expect(try Self.counted(list.reversed()) == [newest])
    }

    @Test func theOrderOfArrivalChangesNothing() throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<50 {
            // Ids and sequence numbers depend on the order of arrival, but the choice of the workout that counts
            // doesn't.
            let shuffled = Self.six.shuffled(using: &random).enumerated().map { place, one in
                var one = one
                one.low = UInt64(place + 1)
                return one
            }
            let output = try WorkoutsHandler().compute(Self.input(shuffled, newest: true))
            #expect(output.figures["workouts"]?.array?.map { $0["distanceMeters"].double } == [5100])
        }
    }

    /// Repeats are recognized across pages of any length; deleted and quarantined workouts don't count.
    @Test func theyAreCountedBySourceAndDay() throws {
        let others = [
            Written(low: 20, start: "2025-06-02T08:00:00Z", end: "2025-06-02T09:00:00Z"),
            Written(low: 21, start: "2025-06-02T08:00:00Z", end: "2025-06-02T09:00:00Z", flags: .deleted),
            Written(low: 22, start: "2025-06-03T08:00:00Z", end: "2025-06-03T09:00:00Z", source: "Watch"),
            Written(low: 23, start: "2025-06-03T08:00:00Z", end: "2025-06-03T09:00:00Z", source: "Watch"),
        ]
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let page = try Self.page(Self.six + others)
        for rows in 1...page.count {
            var tally = WorkoutRepeats.Tally { zones.day(of: $0) }
            for first in stride(from: 0, to: page.count, by: rows) {
                try tally.add(page.select(Array(first..<min(first + rows, page.count))))
            }
            try tally.finish()
            #expect(tally.all == .init(workouts: 9, distinct: 3))
            #expect(
                tally.bySource == ["Runner": .init(workouts: 6, distinct: 1), "Watch": .init(workouts: 2, distinct: 1)])
            #expect(
                tally.byDay == [
                    LocalDay(year: 2025, month: 6, day: 1): .init(workouts: 6, distinct: 1),
                    LocalDay(year: 2025, month: 6, day: 3): .init(workouts: 2, distinct: 1),
                ])
        }
    }
}
