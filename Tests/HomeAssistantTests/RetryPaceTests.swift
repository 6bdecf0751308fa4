import HomeAssistantStage
import Testing

@Suite struct RetryPaceTests {
    @Test func aBrokerThatAcceptsOnlyToDropIsAskedLessAndLess() {
        var pace = RetryPace()
        var now = ContinuousClock.now
        var waits: [Double] = []
        for _ in 0..<8 {
            pace.opened(at: now)
            now += .seconds(1)
            waits.append(pace.wait(afterLossAt: now))
        }
        #expect(waits == [0.25, 0.5, 1, 2, 4, 8, 15, 15])
        pace.opened(at: now)
        #expect(pace.wait(afterLossAt: now + RetryPace.lasting) == 0.25)
    }
}
