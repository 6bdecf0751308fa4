import Changelog
import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct StoreHeadTests {
    /// Sequence numbers start from a timestamp. A consumer that has nothing yet is therefore missing only the existing
    /// rows, not all numbers since 1970.
    @Test(arguments: [(0, 21), (999, 21), (1000, 20), (1015, 5), (1020, 0), (1030, 0)] as [(SequenceNumber, Int64)])
    func distanceCountsFromTheFirstSequence(_ frontier: SequenceNumber, _ distance: Int64) {
        let head = StoreHead(store: "s", generation: "g", sequence: 1020, first: 1000)
        #expect(head.distance(from: frontier) == distance)
    }

    /// A generation's sequence numbers start from a timestamp too: whoever has all of the one before lacks only its
    /// rows.
    @Test(
        arguments: [(0, 24), (1015, 8), (1020, 3), (1021, 3), (5000, 3), (5001, 2), (5003, 0)]
            as [(SequenceNumber, Int64)])
    func distanceLeavesOutTheGapBetweenGenerations(_ frontier: SequenceNumber, _ distance: Int64) throws {
        let head = StoreHead(
            store: "s", generation: "h", sequence: 5003, first: 1000, gap: .init(after: 1020, first: 5000))
        #expect(head.distance(from: frontier) == distance)
        #expect(try #require(Value(head).read(StoreHead.self)) == head)
    }
}
