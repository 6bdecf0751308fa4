import DeliveryKit
import HealthModel
import Testing

@Suite struct MetBackendTests {
    private static let now = Instant(seconds: 1_700_000_000)

    private var met = MetBackend(address: "here")
    private var known = KnownBackend()
    private var time = MonotonicTime(microseconds: 1_000_000)

    private mutating func meet(_ generation: String?) -> MetBackend.Sender {
        met.meet(generation, known, at: time, Self.now)
    }

    private mutating func knows(_ generation: String?, at address: String? = "here") {
        known.follow(generation, sequence: nil)
        known.address = address
    }

    @Test mutating func aServerWithoutANameIsTrusted() {
        #expect(meet(nil) == .known(isWellAgain: false) && !met.isBound(to: known))
        #expect(meet("a") == .first)
    }

    @Test mutating func onlyTheKnownOneIsTrusted() {
        knows("a")
        #expect(met.isBound(to: known) && meet("a") == .known(isWellAgain: false))
        #expect(meet(nil) == .unnamed && meet("b") == .other)
    }

    @Test mutating func anotherAddressMayHaveTheSameOne() {
        knows("a", at: "there")
        #expect(!met.isBound(to: known))
        #expect(meet("a") == .known(isWellAgain: false) && meet("b") == .first && meet(nil) == .first)
    }

    /// Files from earlier releases contain no address.
    @Test mutating func aBackendWithoutAnAddressIsAtThisOne() {
        knows("a", at: nil)
        #expect(met.isBound(to: known) && meet("b") == .other)
    }

    @Test mutating func aFormerOneIsTrustedAfterASilence() {
        knows("a")
        knows("b")
        #expect(meet("b") == .known(isWellAgain: false) && meet("a") == .unclear(.inTurn))
        time += .seconds(60)
        for _ in 0..<3 { #expect(meet("a") == .unclear(.inTurn)) }
        #expect(meet("a") == .other)
    }

    @Test mutating func allIsWellAnHourAfterTheyAlternated() {
        knows("a")
        knows("b")
        #expect(meet("a") == .unclear(.inTurn))
        time += .seconds(3599)
        #expect(meet("b") == .known(isWellAgain: false))
        time += .seconds(1)
        #expect(meet("b") == .known(isWellAgain: true) && meet("b") == .known(isWellAgain: false))
    }

    @Test mutating func aFourthRedeliveryHasToWaitUnlessAPersonAsks() {
        knows("a")
        for _ in 0..<3 { known.redeliveries.begin(at: Self.now) }
        #expect(meet("b") == .unclear(.startedOver) && !met.mayRedeliver(to: known, at: time, Self.now))
        #expect(met.mayRedeliver(to: known, at: time, Self.now + .seconds(600)) == true)
        met.isRedeliveryAsked = true
        #expect(meet("b") == .other)
    }
}

@Suite struct StandstillTests {
    @Test func anAlertIsRaisedAfterAQuarterOfAnHour() {
        var standstill = Standstill()
        let start = MonotonicTime(microseconds: 1_000_000)
        let end = start + .seconds(900)
        #expect(standstill.end() == false)
        #expect(standstill.lasts(at: start) == end && standstill.lasts(at: end - .microseconds(1)) == end)
        #expect(standstill.lasts(at: end) == nil && standstill.lasts(at: end + .seconds(1)) == nil)
        #expect(standstill.end() == true && standstill.lasts(at: end) == end + .seconds(900))
    }
}
