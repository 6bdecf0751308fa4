import HealthModel
import Testing

struct StatisticsTypeTests {
    @Test func statisticsHaveATypeOfTheirOwnWithTheUnitOfTheirBase() {
        let steps = "HKQuantityTypeIdentifierStepCount"
        let statistics = HealthType.statistics(of: steps)
        #expect(statistics != steps)
        #expect(HealthType.base(ofStatistics: statistics) == steps)
        #expect(HealthType.base(ofStatistics: steps) == nil)
        #expect(HealthType.named(statistics).unit == "count")
        #expect(HealthType.named(statistics).style == .cumulative)
    }
}
