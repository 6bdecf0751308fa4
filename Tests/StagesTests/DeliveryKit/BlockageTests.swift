import DeliveryKit
import HealthModel
import TestSupport
import Testing

@Suite struct BlockageTests {
    private static let start = MonotonicTime(microseconds: 1_000_000)
    private static let now = Instant(seconds: 1_700_000_000)

    private var blockage = Blockage(RetryPolicy(base: 1, cap: 8), SeededRandom(seed: 5))

    private mutating func fails(
        _ outcome: RetryPolicy.Outcome, _ why: String = "no answer", at time: MonotonicTime = start
    ) -> Blockage.Step {
        blockage.take(blockage.action(after: outcome, now: Self.now), why, at: time, Self.now)
    }

    private static let pause = RetryPolicy.Pause(remedy: "correct it")

    @Test mutating func aFailureIsWaitedOut() {
        let step = fails(.unproven)
        guard case .wait(let seconds, "no answer") = step else {
            Issue.record("it doesn't wait: \(step)")
            return
        }
        #expect(blockage.until == Self.start + .seconds(seconds) && blockage.waitsUntil == nil)
        #expect(blockage.reason == "no answer" && !blockage.isPaused)
    }

    @Test mutating func anAskedWaitIsReported() {
        #expect(fails(.later(.seconds(40))) == .wait(40, "no answer"))
        #expect(blockage.until == Self.start + .seconds(40) && blockage.waitsUntil == Self.now + .seconds(40))
        #expect(blockage.reason?.hasPrefix("no answer; it asked to wait until ") == true)
    }

    @Test mutating func aPersonIsWaitedFor() {
        #expect(fails(.later(.seconds(40))) != .goOn)
        #expect(fails(.needsPerson(Self.pause), "refused") == .pause("refused; correct it"))
        #expect(blockage.isPaused && blockage.waitsUntil == nil && blockage.reason == "refused; correct it")
        #expect(blockage.until == Self.start + .seconds(30))
    }

    /// What a person had to fix isn't the reason any more.
    @Test mutating func aWaitReplacesAPause() {
        #expect(fails(.needsPerson(Self.pause)) != .goOn && fails(.unproven) != .goOn)
        #expect(!blockage.isPaused && blockage.reason == "no answer")
    }

    @Test mutating func theTokenIsReadAgainOnce() {
        #expect(blockage.takeTokenRefresh() == false)
        #expect(fails(.refusesToken(isFinal: false, Self.pause)) == .goOn && blockage.reason == nil)
        #expect(blockage.takeTokenRefresh() && !blockage.takeTokenRefresh())
        #expect(fails(.refusesToken(isFinal: false, Self.pause)) == .pause("no answer; correct it"))
        #expect(blockage.takeTokenRefresh() && !blockage.takeTokenRefresh())
    }

    @Test mutating func anAnswerAboutElementsEndsNoWait() {
        #expect(fails(.later(.seconds(40))) != .goOn)
        blockage.isAnswered(at: Self.start + .seconds(39))
        #expect(blockage.reason != nil && blockage.waitsUntil != nil)
        blockage.isAnswered(at: Self.start + .seconds(40))
        #expect(blockage.reason == nil && blockage.waitsUntil == nil)
    }

    @Test mutating func successEndsAPauseButNoWait() {
        #expect(fails(.later(.seconds(40))) != .goOn)
        blockage.goesOn()
        #expect(blockage.reason == nil && blockage.until == Self.start + .seconds(40))
        #expect(fails(.needsPerson(Self.pause)) != .goOn)
        blockage.goesOn()
        #expect(!blockage.isPaused && blockage.until == .distantPast)
    }

    @Test mutating func theThirdAnswerThatProvesNothingIsWorthAnAlert() {
        #expect(!blockage.doubts() && !blockage.doubts() && blockage.doubts() && blockage.isDoubtful)
        blockage.goesOn()
        #expect(!blockage.isDoubtful && !blockage.doubts())
    }

    @Test mutating func aRequestWithoutAnAnswerIsTheNewerReason() {
        #expect(blockage.reason(at: Self.now, unansweredSince: Self.now - .seconds(9)) == nil)
        #expect(fails(.unproven) != .goOn)
        #expect(blockage.reason(at: Self.now, unansweredSince: Self.now - .seconds(4)) == "no answer")
        let text = blockage.reason(at: Self.now, unansweredSince: Self.now - .seconds(5))
        #expect(text?.hasPrefix("no answer yet") == true && text?.hasSuffix("before that: no answer") == true)
    }

    @Test mutating func aPathEndsOnlyTheLackOfOne() {
        blockage.hears(hasPath: false)
        #expect(blockage.reason == Blockage.noPath)
        blockage.hears(hasPath: true)
        #expect(blockage.reason == nil && fails(.unproven) != .goOn)
        blockage.hears(hasPath: true)
        #expect(blockage.reason == "no answer")
    }

    @Test mutating func waitsForHeldElementsGrow() {
        for count in 0..<9 {
            let seconds = blockage.wait(afterWaits: count)
            #expect(seconds >= 0 && seconds < min(8, Double(1 << count)))
        }
    }
}
