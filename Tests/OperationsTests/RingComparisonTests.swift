import HealthModel
import Operations
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
        // A summary that goes by energy has no minutes of movement, whatever samples there are.
        #expect(equal.byFigure["moveMinutes"] == nil)
        let strict = Self.compare(ours, apples, .init(absolute: 0.5, relative: 0))
        #expect(
            strict.differingDays == 1
                && strict.differences.map(\.figure) == ["activeEnergyKilocalories", "exerciseMinutes"])
        #expect(strict.differences.map(\.difference) == [4, -1])
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
        // Apple writes 0 where it knows nothing.
        let neither = Self.compare([:], ["appleStandHours": 0, "activeEnergyBurned": 0])
        #expect(neither.onlyOurs.isEmpty && neither.onlyApples.isEmpty && neither.compared == 0)
        let partly = Self.compare(["standHours": 4], ["appleStandHours": 4, "appleExerciseTime": 20])
        #expect(partly.differences.map(\.figure) == ["exerciseMinutes"])
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
