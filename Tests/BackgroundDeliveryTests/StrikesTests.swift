import BackgroundDelivery
import HealthModel
import TestSupport
import Testing

/// Fires that no consumer acknowledges.
@Suite struct StrikesTests {
    private let second = Duration.seconds(1)

    private func bench(strikes: Int) -> DeliveryBench {
        let bench = DeliveryBench { $0.strikesUntilStopped = strikes }
        bench.register()
        bench.enter(.background)
        return bench
    }

    @Test func anAcknowledgementInTimeIsNoStrike() {
        let bench = bench(strikes: 3)
        bench.change("steps")
        #expect(bench.deadline == .seconds(15))
        bench.pass(14 * second)
        bench.acknowledge("steps")
        #expect(bench.deadline == nil)
        #expect(bench.pass(60 * second).fires.isEmpty && bench.table.strikes("steps") == 0)
    }

    @Test func aMissedFireIsRepeatedWithBackOffAndThreeMissesStopDelivery() throws {
        let bench = bench(strikes: 3)
        bench.change("steps")
        #expect(bench.pass(15 * second).fires.isEmpty && bench.table.strikes("steps") == 1)
        #expect(bench.deadline == .seconds(30))
        let first = bench.pass(15 * second)
        #expect(first.types == ["steps"] && first.fires.allSatisfy(\.isRepeat))
        bench.pass(15 * second)
        #expect(bench.table.strikes("steps") == 2)
        // The wait is twice as long as the previous one.
        #expect(bench.pass(29 * second).fires.isEmpty)
        #expect(bench.pass(second).types == ["steps"])
        let last = bench.pass(15 * second)
        #expect(last.stopped == ["app"] && last.fires.isEmpty)
        #expect(bench.table.state("steps") == .stopped)
        // Nothing fires anymore, even after a restart, but nothing is forgotten.
        try bench.restart()
        #expect(bench.change("steps", "heart").fires.isEmpty)
        #expect(bench.table.stoppedConsumers == ["app"])
        #expect(bench.enter(.active).types == ["heart", "steps"])
        #expect(bench.table.strikes("steps") == 0 && bench.table.stoppedConsumers.isEmpty)
        bench.enter(.background)
        #expect(bench.change("steps").types == ["steps"])
    }

    /// A refresh, say, starts the app: its queries begin with a fire, but delivery stays stopped.
    @Test func aStartInTheBackgroundFiresButDoesNotResumeWhatWasStopped() throws {
        let bench = bench(strikes: 1)
        bench.change("steps")
        #expect(bench.pass(15 * second).stopped == ["app"])
        bench.register()
        #expect(bench.look().types == ["steps"])
        #expect(bench.change("steps").fires.isEmpty && bench.table.stoppedConsumers == ["app"])
        // One on the screen begins again.
        bench.device.app = .active
        bench.register()
        #expect(bench.table.strikes("steps") == 0 && bench.table.stoppedConsumers.isEmpty)
    }

    /// Each wake launches the app, which dies before it acknowledges.
    @Test func aCrashInEachWakeIsAStrikeToo() {
        let bench = bench(strikes: 3)
        bench.change("steps")
        var stopped: [String] = []
        for _ in 0..<30 where stopped.isEmpty {
            stopped = bench.pass(5 * second).stopped
            bench.register()
            stopped += bench.look().stopped
        }
        #expect(stopped == ["app"] && bench.table.strikes("steps") == 3)
        // One that acknowledges begins the count again.
        let other = self.bench(strikes: 2)
        for _ in 0..<5 {
            other.change("steps")
            other.pass(15 * second)
            other.register()
            #expect(other.table.strikes("steps") == 1)
            other.look()
            other.acknowledge("steps")
        }
        #expect(other.table.stoppedConsumers.isEmpty && other.table.strikes("steps") == 0)
    }

    @Test func anAnswerBetweenBeginsTheCountAgain() {
        let bench = bench(strikes: 2)
        for _ in 0..<5 {
            bench.change("steps")
            bench.pass(15 * second)
            #expect(bench.table.strikes("steps") == 1)
            #expect(bench.pass(15 * second).types == ["steps"])
            bench.acknowledge("steps")
        }
        #expect(bench.table.stoppedConsumers.isEmpty)
    }

    @Test func withoutStrikesItKeepsTrying() {
        let bench = bench(strikes: 0)
        bench.change("steps")
        var repeats = 0
        for _ in 0..<4000 { repeats += bench.pass(15 * second).fires.count }
        #expect(repeats > 50 && bench.table.stoppedConsumers.isEmpty)
        // Between two fires, at most a quarter of an hour passes, plus the time it takes to answer.
        #expect((bench.deadline ?? .distantFuture) <= bench.monotonic + .seconds(900))
    }

    @Test func aSteadyStreamDoesNotHideThatNobodyAnswers() {
        let bench = bench(strikes: 1)
        var stopped: [String] = []
        for _ in 0..<20 {
            bench.now += second
            bench.monotonic += .seconds(1)
            stopped += bench.change("steps").stopped
        }
        #expect(stopped == ["app"])
    }

    @Test func anAcknowledgementOfAnOlderFireLeavesTheNewerOneDue() {
        let bench = bench(strikes: 3)
        bench.change("steps")
        let first = bench.heads["steps"] ?? 0
        bench.pass(10 * second)
        bench.change("steps")
        bench.table.acknowledge("app", ["steps": first], monotonic: bench.monotonic)
        #expect(bench.deadline == bench.monotonic + .seconds(15))
        bench.acknowledge("steps")
        #expect(bench.deadline == nil)
    }

    @Test func noRepeatWhileLockedDeferringOrOverTheBudget() {
        let bench = bench(strikes: 9)
        bench.change("steps")
        bench.pass(15 * second)
        bench.device.isLocked = true
        #expect(bench.pass(60 * second).fires.isEmpty)
        bench.device.isLocked = false
        bench.device.isDeferring = true
        #expect(bench.pass(60 * second).fires.isEmpty)
        bench.device.isDeferring = false
        #expect(bench.look().types == ["steps"])
    }

    @Test func onTheScreenNobodyWaitsForAnAnswer() {
        let bench = bench(strikes: 1)
        bench.change("steps")
        bench.enter(.active)
        #expect(bench.pass(600 * second).stopped.isEmpty)
        bench.change("steps")
        #expect(bench.pass(600 * second).stopped.isEmpty)
    }

    @Test func aStrangersAcknowledgementChangesNothing() {
        let bench = bench(strikes: 1)
        bench.change("steps")
        bench.table.acknowledge("other", ["steps": .end], monotonic: 0)
        bench.table.acknowledge("app", ["heart": .end, "steps": 0], monotonic: 0)
        #expect(bench.deadline == .seconds(15))
    }
}
