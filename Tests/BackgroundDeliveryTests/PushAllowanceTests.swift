import BackgroundDelivery
import HealthModel
import Testing

/// How many silent pushes count.
@Suite struct PushAllowanceTests {
    private let start = Instant(seconds: 1_743_069_600)
    private let minute = Duration.seconds(60)

    @Test func twoAnHourCountForEachSender() {
        var allowance = PushAllowance()
        #expect(allowance.take("a", from: "phone", at: start) == .counted)
        #expect(allowance.take("b", from: "phone", at: start + minute * 20) == .counted)
        let next = start + minute * 60
        #expect(allowance.take("c", from: "phone", at: start + minute * 21) == .usedUp(next: next))
        #expect(allowance.take("c", from: "watch", at: start + minute * 21) == .counted)
        #expect(allowance.take("d", from: "phone", at: next - .microseconds(1)) == .usedUp(next: next))
        #expect(allowance.take("d", from: "phone", at: next) == .counted)
        // A refused one doesn't count: the next is an hour after the second.
        #expect(allowance.take("e", from: "phone", at: next) == .usedUp(next: start + minute * 80))
    }

    @Test func theSameIDCountsOnce() {
        var allowance = PushAllowance()
        #expect(allowance.take("a", from: "phone", at: start) == .counted)
        for _ in 0..<3 { #expect(allowance.take("a", from: "phone", at: start + minute) == .known) }
        #expect(allowance.take("b", from: "phone", at: start + minute) == .counted)
        #expect(allowance.take("a", from: "phone", at: start + minute * 2) == .known)
    }

    @Test func aClockSetBackMakesNobodyWaitLongerThanAnHour() {
        var allowance = PushAllowance()
        for id in ["a", "b"] { _ = allowance.take(id, from: "phone", at: start + minute * 600) }
        #expect(allowance.take("c", from: "phone", at: start) == .usedUp(next: start + minute * 60))
        #expect(allowance.take("c", from: "phone", at: start + minute * 60) == .counted)
    }
}
