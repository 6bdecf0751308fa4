import Changelog
import DeliveryKit
import HealthModel
import Protocol
import StageKit
import Testing

@Suite struct DeliveriesTests {
    static let start = MonotonicTime(microseconds: 1_000_000)
    private static let now = Instant(seconds: 1_700_000_000)
    static let rates = DeliveryMetric(family: "heart-rate")
    static let steps = DeliveryMetric(family: "steps")

    private var deliveries = Deliveries(samples: "observer")

    /// Elements with the ids 0, 1, 2, ..., of one metric.
    static func group(_ metric: DeliveryMetric = .daily, _ count: Int = 1) -> DeliveryGroup {
        DeliveryGroup(
            metric: metric, user: "me",
            content: .days((0..<count).map { .init(id: "\($0)", version: 1, body: [:]) }),
            batch: DeliveryBatch(count: count))
    }

    private mutating func fetch(_ groups: [DeliveryGroup], of upstream: String = "observer", fills: Bool = false) {
        deliveries.add(
            Upstream.Fetched(pages: [], cursor: Cursor()), groups, older: 1, of: upstream, fills: fills, at: Self.start)
    }

    private mutating func send(_ index: Int, effect: Int64 = 1, at now: Instant = now) throws {
        let found = deliveries.next(index, besides: [], upTo: .max)
        let (place, part) = try #require(found)
        deliveries.sent(part, of: place, effect: effect, at: now)
    }

    private mutating func accept(_ effect: Int64) throws {
        let found = deliveries.answered(effect)
        let answered = try #require(found)
        deliveries[answered.place].batch.settle()
    }

    @Test mutating func threeSetsOfAnUpstreamMayWait() {
        for _ in 0..<3 {
            #expect(deliveries.mayFetch("observer", fills: false))
            fetch([Self.group()])
        }
        #expect(!deliveries.mayFetch("observer", fills: false) && deliveries.mayFetch("sleep", fills: false))
        #expect(deliveries.mayFetch("observer", fills: true), "the last one can be filled")
    }

    @Test mutating func samplesFillTheLastSet() throws {
        fetch([Self.group(Self.rates, 2)], fills: true)
        fetch([Self.group(Self.rates, 3)], fills: true)
        #expect(deliveries.count == 1 && deliveries[0].count == 5 && deliveries[0].older == 2)
        #expect(deliveries.mayFill(0, at: Self.start) && !deliveries.mayFill(0, at: Self.start + .seconds(1)))
        try send(0)
        #expect(!deliveries.mayFill(0, at: Self.start))
        fetch([Self.group(Self.rates)], fills: true)
        #expect(deliveries.count == 2)
    }

    @Test mutating func nothingElseFills() {
        for upstream in ["observer", "consolidator", "consolidator"] {
            fetch([Self.group()], of: upstream, fills: upstream != "observer")
        }
        #expect(deliveries.count == 3)
        fetch([Self.group(Self.rates, SampleDelivery.elementLimit)], fills: true)
        #expect(deliveries.count == 4, "one request can't hold both")
    }

    @Test mutating func documentsComeFirstAndRepeatsLast() {
        deliveries.addAgain([Self.group()])
        deliveries.addAgain([])
        fetch([Self.group()])
        fetch([Self.group()], of: "consolidator")
        #expect(deliveries.order == [2, 1, 0])
    }

    @Test mutating func twoRequestsMayBeUnanswered() throws {
        for effect in [7, 8] as [Int64] {
            #expect(deliveries.maySend)
            fetch([Self.group()])
            try send(deliveries.count - 1, effect: effect, at: Self.now + .seconds(Double(effect)))
        }
        #expect(!deliveries.maySend && deliveries.unansweredSince == Self.now + .seconds(7))
        try accept(7)
        #expect(deliveries.maySend && deliveries.unansweredSince == Self.now + .seconds(8))
        #expect(deliveries.answered(7) == nil)
    }

    @Test mutating func aPartHasNoMoreThanIsAllowedAndNothingThatWaits() throws {
        fetch([Self.group(Self.rates, 5), Self.group(Self.steps, 5)])
        let found = deliveries.next(0, besides: [Self.rates], upTo: 2)
        let (place, part) = try #require(found)
        #expect(place == .init(0, 1) && part == 0..<2)
        #expect(deliveries.next(0, besides: [Self.rates, Self.steps], upTo: 2) == nil)
    }

    @Test mutating func anchorsMoveInOrder() throws {
        for effect in [1, 2] as [Int64] {
            fetch([Self.group()])
            try send(deliveries.count - 1, effect: effect)
        }
        try accept(2)
        #expect(deliveries.removeDone(of: "observer") == nil)
        try accept(1)
        #expect(deliveries.removeDone(of: "observer") != nil && deliveries.removeDone(of: "observer") != nil)
        #expect(deliveries.isEmpty && deliveries.removeDone(of: "observer") == nil)
    }

    /// What comes after everything was delivered is new to the destination.
    @Test mutating func onlyNewDataIsUnknown() {
        fetch([Self.group()])
        deliveries.noteLevel("observer")
        #expect(deliveries[0].mayBeKnown)
        fetch([Self.group()])
        #expect(deliveries[1].mayBeKnown, "something was still on its way")
        deliveries.remove(of: "observer")
        deliveries.noteLevel("observer")
        fetch([Self.group()])
        #expect(!deliveries[0].mayBeKnown)
        deliveries.forget("observer")
        fetch([Self.group()])
        #expect(deliveries.count == 1 && deliveries[0].mayBeKnown)
    }

    @Test mutating func onePartAtATimeIsDeliveredAgain() throws {
        fetch([Self.group()])
        deliveries.addAgain([Self.group()])
        #expect(deliveries.mayGoOnAgain() == false && deliveries.hasUnsent)
        try send(1)
        try accept(1)
        #expect(deliveries.mayGoOnAgain() && deliveries.count == 1)
        try send(0)
        #expect(!deliveries.hasUnsent)
    }

    @Test mutating func setsThatWaitForAMetricAreJoined() throws {
        for _ in 0..<3 { fetch([Self.group(Self.rates, 2)]) }
        fetch([Self.group(Self.steps)])
        deliveries.join(besides: [])
        #expect(deliveries.count == 4)
        deliveries.join(besides: [Self.rates])
        #expect(deliveries.count == 2 && deliveries[0].count == 6 && deliveries[0].older == 3)
    }

    @Test mutating func noMoreIsJoinedThanMemoryHasRoomFor() {
        for _ in 0..<2 { fetch([Self.group(Self.rates, SampleDelivery.elementLimit * 2 / 3)]) }
        deliveries.join(besides: [Self.rates])
        #expect(deliveries.count == 2)
    }
}

@Suite struct PaceTests {
    @Test func samplesAreCountedTowardsTheLimit() {
        var pace = Pace(samplesPerSecond: 10)
        let samples = DeliveryGroup(
            metric: .other, user: "me", content: .samples(SamplePage()), batch: DeliveryBatch(count: 30))
        var deliveries = Deliveries(samples: "observer")
        deliveries.addAgain([samples])
        let delivery = deliveries[0]
        #expect(!pace.delays(delivery, at: DeliveriesTests.start))
        pace.sent(samples, 0..<20, at: DeliveriesTests.start)
        pace.sent(samples, 20..<30, at: DeliveriesTests.start)
        #expect(pace.until == DeliveriesTests.start + .seconds(3))
        #expect(pace.delays(delivery, at: DeliveriesTests.start) && !pace.delays(delivery, at: pace.until))
    }

    @Test func documentsAreNot() {
        var pace = Pace(samplesPerSecond: 10)
        let days = DeliveriesTests.group()
        pace.sent(days, 0..<1, at: DeliveriesTests.start)
        #expect(pace.until == .distantPast)
    }

    @Test func withoutALimitNothingWaits() {
        var pace = Pace(samplesPerSecond: 0)
        let samples = DeliveryGroup(
            metric: .other, user: "me", content: .samples(SamplePage()), batch: DeliveryBatch(count: 3))
        pace.sent(samples, 0..<3, at: DeliveriesTests.start)
        #expect(pace.until == .distantPast)
    }
}
