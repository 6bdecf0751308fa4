import BodyStage
import EnergyStage
import GenericStage
import HealthModel
import HeartRateStage
import SleepStage
import StepsStage
import TestSupport
import Testing
import WorkoutsStage

/// One changed sample among ten years of them: which days are computed again, and which of them are reported.
@Suite struct DirtyDaysTests {
    private static let first = LocalDay(year: 2015, month: 3, day: 20)
    private static let count = 3650
    private static let hour = Duration.seconds(3600)
    private static let late = SampleID(high: 0xAAAA_0000_0000_4000, low: 0x8000_0000_0000_0001)
    private static let prefix = "HKQuantityTypeIdentifier"

    /// A typical sample for each handler: its local hour, its length in minutes, its value, and how many days may be
    /// computed for it.
    struct Case: Sendable, CustomTestStringConvertible {
        var handler: any DayHandler
        var name: String
        var type: String
        var unit = "count"
        var hour: Int64
        var minutes: Int64
        var value: Double
        var days = 1
        var testDescription: String { "\(name), \(hour) h" }
    }

    static let cases: [Case] = [
        .init(handler: StepsHandler(), name: "steps", type: prefix + "StepCount", hour: 9, minutes: 10, value: 600),
        .init(
            handler: StepsHandler(), name: "steps", type: prefix + "StepCount", hour: 23, minutes: 90, value: 600,
            days: 2),
        .init(
            handler: HeartRateHandler(), name: "heart-rate", type: prefix + "HeartRate", unit: "count/min", hour: 7,
            minutes: 0, value: 60),
        .init(
            handler: EnergyHandler(), name: "energy", type: prefix + "AppleExerciseTime", unit: "min", hour: 12,
            minutes: 1, value: 1),
        .init(
            handler: BodyHandler(), name: "body", type: prefix + "BodyMass", unit: "kg", hour: 7, minutes: 0, value: 70),
        .init(
            handler: GenericHandler(), name: "generic", type: prefix + "DietaryCaffeine", unit: "mg", hour: 8,
            minutes: 0, value: 80),
        .init(
            handler: WorkoutsHandler(), name: "workouts", type: HealthType.workoutIdentifier, unit: "", hour: 17,
            minutes: 40, value: .nan),
        .init(
            handler: SleepHandler(), name: "sleep", type: "HKCategoryTypeIdentifierSleepAnalysis", unit: "", hour: 2,
            minutes: 30, value: 3),
        .init(
            handler: SleepHandler(), name: "sleep", type: "HKCategoryTypeIdentifierSleepAnalysis", unit: "", hour: 5,
            minutes: 90, value: 5, days: 2),
    ]

    private static func record(_ usual: Case, day: LocalDay, shift: Duration = .zero, zones: ZoneTimeline) -> Record {
        let midnight = zones.ranges(of: day).first?.lowerBound ?? .epoch
        return Record(
            type: usual.type, start: midnight + usual.hour * hour + shift,
            length: .seconds(usual.minutes * 60), value: usual.value, unit: usual.unit)
    }

    @Test(arguments: cases)
    func oneSampleComputesOneOrTwoDays(_ usual: Case) throws {
        let zones = try ZoneTimeline(zone: FiguresRig.zone)
        let rig = try FiguresRig(usual.name, usual.handler)
        try rig.add((0..<Self.count).map { Self.record(usual, day: Self.first.adding(days: $0), zones: zones) })
        let all = try rig.settle()
        #expect(Set(all).count >= Self.count && all.count == Set(all).count)
        let before = try rig.summaries()
        #expect(before.values.allSatisfy { $0["final"] == true && $0["revision"] == 1 })

        let day = Self.first.adding(days: 2000)
        let sequence = rig.summarySequence
        var late = Self.record(usual, day: day, shift: .seconds(20 * 60), zones: zones)
        late.uuid = Self.late
        late.value = usual.name == "sleep" ? 4 : usual.value + 5
        try rig.add([late])
        let added = try rig.settle()
        #expect(added.count == usual.days && added.contains(day))
        // One of a night's two windows holds the sample; days whose figures turn out the same aren't reported.
        let revised = try rig.summaries(after: sequence)
        #expect(revised.count == (usual.name == "sleep" ? 1 : usual.days))
        #expect(revised.keys.contains(day) && Set(revised.keys).isSubset(of: added))
        #expect(revised.values.allSatisfy { $0["revision"] == 2 && $0["final"] == true })

        try rig.delete(Self.late)
        #expect(try rig.settle().count == usual.days)
        // The summaries are as before, except for the revision.
        let after = try rig.summaries()
        #expect(after.mapValues(Self.content) == before.mapValues(Self.content))
        #expect(after.count { $0.value["revision"] != 1 } == revised.count)
    }

    private static func content(_ summary: Value) -> Value {
        var members = summary.object ?? [:]
        members["revision"] = nil
        return .object(members)
    }

    /// The system replaces its estimate with a new one, during the day and on the day after.
    @Test func aReplacedEstimateReplacesTheFigure() throws {
        let zones = try ZoneTimeline(zone: FiguresRig.zone)
        let rig = try FiguresRig("heart-rate", HeartRateHandler())
        func estimate(_ type: String, _ day: LocalDay, hour: Int64, _ value: Double, _ number: UInt64) -> Record {
            let midnight = zones.ranges(of: day).first?.lowerBound ?? .epoch
            return Record(
                type: Self.prefix + type, start: midnight + hour * Self.hour, length: .zero, value: value,
                unit: type == "RestingHeartRate" ? "count/min" : "ms", uuid: Self.uuid(number))
        }
        let (day, next) = (Self.first, Self.first.adding(days: 1))
        try rig.add([
            estimate("RestingHeartRate", day, hour: 10, 58, 1),
            estimate("HeartRateVariabilitySDNN", day, hour: 10, 40, 2),
        ])
        _ = try rig.settle()
        #expect(try rig.figures(day)?["heartRate"]["resting"] == 58.0)
        #expect(try rig.figures(day)?["hrvSDNNMilliseconds"] == 40.0)

        // The same times, but a different value.
        try rig.delete(Self.uuid(1))
        try rig.delete(Self.uuid(2))
        _ = try rig.settle()
        #expect(try rig.figures(day) == nil)
        try rig.add([
            estimate("RestingHeartRate", day, hour: 10, 56, 3),
            estimate("HeartRateVariabilitySDNN", day, hour: 10, 50, 4),
        ])
        _ = try rig.settle()
        #expect(try rig.figures(day)?["heartRate"]["resting"] == 56.0)
        #expect(try rig.figures(day)?["hrvSDNNMilliseconds"] == 50.0)

        // On the day after, yesterday's estimate is replaced again; today's stays.
        try rig.add([estimate("RestingHeartRate", next, hour: 9, 61, 5)])
        _ = try rig.settle()
        try rig.delete(Self.uuid(3))
        try rig.add([estimate("RestingHeartRate", day, hour: 11, 55, 6)])
        #expect(try rig.settle() == [day])
        #expect(try rig.figures(day)?["heartRate"]["resting"] == 55.0)
        #expect(try rig.figures(next)?["heartRate"]["resting"] == 61.0)
        // Without figures, there was no day that could become final.
        #expect(try rig.summaries()[day]?["revision"] == 3)
    }

    private static func uuid(_ number: UInt64) -> SampleID {
        SampleID(high: 0xAAAA_0000_0000_4000, low: 0x8000_0000_0000_0000 | number)
    }
}
