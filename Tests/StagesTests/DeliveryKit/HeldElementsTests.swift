import Changelog
import DeliveryKit
import HealthModel
import StageKit
import Testing

@Suite struct HeldElementsTests {
    private static let start = DeliveriesTests.start
    private static let metric = DeliveriesTests.rates

    private var held = HeldElements(limit: 1)
    private var deliveries = Deliveries(samples: "observer")
    private var effects: Int64 = 0

    private mutating func fetch(_ count: Int) {
        deliveries.add(
            Upstream.Fetched(pages: [], cursor: Cursor()), [DeliveriesTests.group(Self.metric, count)], of: "observer",
            fills: false, at: Self.start)
    }

    /// Sends the next element alone.
    private mutating func send(_ index: Int = 0) throws -> Deliveries.Answered {
        let found = deliveries.next(index, besides: [], upTo: 1)
        let (place, part) = try #require(found)
        effects += 1
        deliveries.sent(part, of: place, effect: effects, at: .epoch)
        let answered = deliveries.answered(effects)
        return try #require(answered)
    }

    private mutating func refuse(_ count: Int) throws {
        for _ in 0..<count {
            let sent = try send()
            #expect(held.hold(sent, in: &deliveries, "odd", status: 422) == true)
        }
    }

    /// Sends the only probe; returns what its acceptance shows.
    private mutating func probe(at now: MonotonicTime = start) throws -> HeldMetric.Evidence {
        let probes = held.move(&deliveries, at: now).probes
        #expect(probes.count == 1)
        held.sent(try #require(probes.first), effect: 100)
        #expect(held.move(&deliveries, at: now).probes.isEmpty, "one is on its way")
        #expect(held.answered(99) == nil)
        let found = held.answered(100)
        return try #require(found).evidence
    }

    @Test mutating func whoeverIsAlwaysBelievedHoldsNothing() throws {
        held = HeldElements(limit: 0)
        fetch(1)
        let sent = try send()
        #expect(!held.hold(sent, in: &deliveries, "odd", status: 422) && held.isEmpty)
    }

    @Test mutating func nothingIsProbedWhileTheRestMayShowIt() throws {
        fetch(3)
        try refuse(1)
        #expect(held.move(&deliveries, at: Self.start).probes.isEmpty && held.waiting(deliveries).isEmpty)
        try refuse(1)
        #expect(held.waiting(deliveries) == [Self.metric] && held.count(in: deliveries) == 2)
        #expect(try probe() == .emptyRequest)
    }

    @Test mutating func anAcceptedElementIsTheProbe() throws {
        fetch(2)
        let good = try send()
        let says = held.accepted(0, of: deliveries[good.place], effect: good.effect, deliveries)
        #expect(!says, "nothing is held")
        deliveries[good.place].batch.settle()
        try refuse(1)
        #expect(try probe() == .element)
        held.forgetGood(Self.metric)
        #expect(try probe() == .emptyRequest)
    }

    @Test mutating func anElementRefusedTwiceIsGivenUp() throws {
        fetch(1)
        try refuse(1)
        #expect(held.conclude(.element, Self.metric, &deliveries)?.isEmpty == true)
        #expect(deliveries.held(Self.metric) == 0 && deliveries[0].groups[0].batch.next == 0..<1)
        try refuse(1)
        let found = held.conclude(.element, Self.metric, &deliveries)
        let gone = try #require(found)
        #expect(gone.map(\.element) == [0] && gone[0].refusal.reason == "odd" && gone[0].refusal.status == 422)
        #expect(deliveries[0].isDone)
    }

    @Test mutating func anEmptyRequestCondemnsOnlyAFew() throws {
        fetch(2)
        try refuse(2)
        #expect(held.conclude(.emptyRequest, Self.metric, &deliveries) == nil)
        #expect(deliveries.held(Self.metric) == 2)
        #expect(held.conclude(.element, Self.metric, &deliveries) != nil)
    }

    @Test mutating func theHeldElementsAreSentAgainAfterAWait() throws {
        fetch(1)
        try refuse(1)
        #expect(held.refused == nil)
        held.wait(for: Self.metric, until: Self.start + .seconds(2), hearsAgain: true, &deliveries)
        #expect(held.refused?.metric == Self.metric && held.refused?.status == 422)
        #expect(held.waiting(deliveries) == [Self.metric])
        #expect(held.move(&deliveries, at: Self.start).next == Self.start + .seconds(2))
        #expect(held.move(&deliveries, at: Self.start + .seconds(2)).next == nil)
        #expect(deliveries.held(Self.metric) == 0 && held.waiting(deliveries).isEmpty && !held.isEmpty)
    }

    @Test mutating func onlyAProbeIsSentAfterItWasRefused() throws {
        fetch(1)
        try refuse(1)
        #expect(try probe() == .emptyRequest)
        held.refuses(Self.metric, 500)
        held.wait(for: Self.metric, until: Self.start + .seconds(2), hearsAgain: false, &deliveries)
        #expect(held.refused?.status == 500 && held.move(&deliveries, at: Self.start).probes.isEmpty)
        held.tryNow()
        #expect(try probe() == .emptyRequest && deliveries.held(Self.metric) == 1)
    }

    @Test mutating func anAnswerFromBeforeTheRefusalShowsNothing() throws {
        fetch(2)
        let early = try send()
        deliveries[early.place].batch.settle()
        try refuse(1)
        let group = deliveries[early.place]
        #expect(held.accepted(0, of: group, effect: early.effect, deliveries) == false)
        #expect(held.accepted(0, of: group, effect: 9, deliveries) == true)
    }

    @Test mutating func aMetricWithNothingHeldIsForgotten() throws {
        fetch(1)
        try refuse(1)
        deliveries.remove(of: "observer")
        #expect(held.move(&deliveries, at: Self.start).next == nil && held.isEmpty)
    }
}
