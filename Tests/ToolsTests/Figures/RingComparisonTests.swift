import Figures
import HealthModel
import Testing

@Suite struct RingComparisonTests {
    private static let day = LocalDay(number: 20_000)

    private static func compare(
        _ ours: [String: Double], _ apples: Value?, _ tolerance: RingComparison.Tolerance = .standard
    ) -> RingComparison {
        var rings = RingComparison(tolerance: tolerance)
        rings.add(day, ours: ours, apples: apples)
        return rings
    }

    @Test func withinTheToleranceDaysAreEqual() {
        let apples: Value = [
            "activeEnergyBurned": 400, "appleExerciseTime": 30, "appleStandHours": 12, "appleMoveTime": 0,
            "appleMoveTimeGoal": 0, "activeEnergyBurnedGoal": 500,
        ]
        let ours = [
            "activeEnergyKilocalories": 404.0, "exerciseMinutes": 29.0, "standHours": 12.0, "moveMinutes": 50.0,
        ]
        let equal = Self.compare(ours, apples)
        #expect(equal.compared == 1 && equal.equal == 1 && equal.differences.isEmpty)
        // A summary that counts energy has no minutes of movement, whatever samples there are.
        #expect(equal.byFigure["moveMinutes"] == nil)
        let strict = Self.compare(ours, apples, .init(absolute: 0.5, relative: 0))
        #expect(
            strict.differingDays == 1
                && strict.differences.map(\.figure) == ["activeEnergyKilocalories", "exerciseMinutes"])
        #expect(strict.differences.map(\.difference) == [4, -1])
    }

    @Test func theLastLineIsTheVerdict() {
        let apples: Value = ["activeEnergyBurned": 400, "appleExerciseTime": 30, "appleStandHours": 12]
        let same = ["activeEnergyKilocalories": 400.0, "exerciseMinutes": 30.0, "standHours": 12.0]
        #expect(
            CheckReport.verdict(Self.compare(same, apples), quarantined: 0)
                == "Everything that can be compared agrees with Apple's rings.")
        let one = CheckReport.verdict(Self.compare(same.merging(["standHours": 11]) { $1 }, apples), quarantined: 0)
        #expect(
            one == "1 figure of 1 day differs from Apple's; 'healthbus explain standHours \(Self.day)' shows what "
                + "counted, and --tolerance allows more.")
        let annas = CheckReport.verdict(Self.compare(["standHours": 11], apples), quarantined: 0, user: "anna")
        #expect(annas.contains("'healthbus explain standHours \(Self.day) --user anna' shows"))
        let two = CheckReport.verdict(
            Self.compare(["standHours": 11, "exerciseMinutes": 3], apples), quarantined: 0)
        #expect(two.hasPrefix("2 figures of 1 day differ from Apple's; 'healthbus explain exerciseMinutes "))
        // If nothing could be compared, this isn't reported as agreement.
        let none = CheckReport.verdict(Self.compare(same, nil), quarantined: 3)
        #expect(none.hasPrefix("Nothing can be compared with Apple's rings"))
        #expect(none.hasSuffix(" 3 quarantined: 'healthbus quarantine list' says why."))
    }

    @Test func oneHourOfStandingIsADifference() {
        let rings = Self.compare(["standHours": 11], ["appleStandHours": 12])
        #expect(rings.differences.map(\.difference) == [-1] && rings.byFigure["standHours"]?.largest == 1)
    }

    @Test func theMoveRingMayGoByMinutes() {
        let apples: Value = ["activeEnergyBurned": 0, "appleMoveTime": 60, "appleMoveTimeGoal": 90]
        let rings = Self.compare(["activeEnergyKilocalories": 300, "moveMinutes": 60], apples)
        #expect(rings.compared == 1 && rings.equal == 1)
        #expect(rings.byFigure.keys.sorted() == ["moveMinutes"])
    }

    @Test func daysOfOneSideAreCounted() {
        let ours = Self.compare(["standHours": 3], nil)
        #expect(ours.onlyOurs == [Self.day] && ours.compared == 0)
        let apples = Self.compare([:], ["appleStandHours": 4])
        #expect(apples.onlyApples == [Self.day] && apples.compared == 0)
        // Apple writes 0 for unknown values.
        let neither = Self.compare([:], ["appleStandHours": 0, "activeEnergyBurned": 0])
        #expect(neither.onlyOurs.isEmpty && neither.onlyApples.isEmpty && neither.compared == 0)
    }

    /// Figures that are on only one side aren't compared, since a missing figure isn't a 0.
    @Test func whatOneSideLacksIsNoZero() {
        let partly = Self.compare(["standHours": 4], ["appleStandHours": 4, "appleExerciseTime": 20])
        #expect(partly.compared == 1 && partly.equal == 1 && partly.differences.isEmpty)
        #expect(partly.byFigure["exerciseMinutes"] == .init(onlyApples: 1))
        // There are only samples of a different kind, and none for the ring.
        let without = Self.compare(["moveMinutes": 3], ["appleStandHours": 12, "activeEnergyBurned": 400])
        #expect(without.compared == 0 && without.onlyApples == [Self.day] && without.differences.isEmpty)
        #expect(without.byFigure.values.allSatisfy { $0.compared == 0 && $0.onlyApples == 1 })
        let lacking = Self.compare(["standHours": 4, "exerciseMinutes": 5], ["appleStandHours": 4])
        #expect(lacking.equal == 1 && lacking.byFigure["exerciseMinutes"] == .init(onlyOurs: 1))
    }

    /// A summary of zeros doesn't count, and neither does a ring of 0 without a goal; a 0 with a goal is a figure.
    @Test func absentRingsAreAbsent() {
        let empty: Value = [
            "activeEnergyBurned": 0, "activeEnergyBurnedGoal": 0, "appleExerciseTime": 0, "appleExerciseTimeGoal": 30,
            "appleStandHours": 0, "appleStandHoursGoal": 12,
        ]
        let day = Self.compare(["activeEnergyKilocalories": 300, "standHours": 9], empty)
        #expect(day.compared == 0 && day.onlyOurs == [Self.day] && day.differences.isEmpty)
        let phone: Value = [
            "activeEnergyBurned": 300, "activeEnergyBurnedGoal": 400, "appleExerciseTime": 0,
            "appleExerciseTimeGoal": 0, "appleStandHours": 0, "appleStandHoursGoal": 12,
        ]
        let ours = ["activeEnergyKilocalories": 300.0, "exerciseMinutes": 20, "standHours": 2]
        let rings = Self.compare(ours, phone)
        #expect(rings.differences.map(\.figure) == ["standHours"])
        #expect(rings.byFigure["exerciseMinutes"] == .init(onlyOurs: 1))
    }

    @Test func figuresAreReadFromSummaries() {
        let summary: Value = [
            "activeEnergyKilocalories": 12.5, "standHours": .null,
            "other": ["HKQuantityTypeIdentifierAppleMoveTime": ["sum": 7]],
        ]
        #expect(
            RingComparison.ourFigures(of: summary) == ["activeEnergyKilocalories": 12.5, "moveMinutes": 7])
    }
}
