import DeliveryKit
import FHIRStage
import Testing

/// A server without a rule of versions never gets an older version after a newer one.
@Suite struct SentVersionsTests {
    @Test func anOlderVersionDoesntFollowANewerOne() {
        var sent = SentVersions()
        #expect(sent.take(samples([5, 6]), 0..<2) == [0, 1])
        // Again, as after a lost answer.
        #expect(sent.take(samples([5, 6]), 0..<2) == [0, 1])
        #expect(sent.take(samples([9], ids: [1]), 0..<1) == [0])
        #expect(sent.take(samples([5, 6]), 0..<2) == [0], "the second was overtaken")
        #expect(sent.take(samples([8], ids: [1], deleted: [0]), 0..<1) == [], "even by a sample")
        #expect(sent.take(samples([10], ids: [1], deleted: [0]), 0..<1) == [0])
    }

    @Test func aTransactionHasEachElementOnce() {
        var sent = SentVersions()
        #expect(sent.take(samples([3, 7, 4, 8], ids: [1, 2, 1, 2]), 0..<4) == [2, 3])
        #expect(sent.take(samples([5, 4], ids: [3, 3]), 0..<2) == [0])
    }

    @Test func equalIdsOfOthersAreOthers() {
        var sent = SentVersions()
        #expect(sent.take(samples([9], ids: [1], user: "anna"), 0..<1) == [0])
        #expect(sent.take(samples([3], ids: [1], user: "bo"), 0..<1) == [0])
        #expect(sent.take(days([("2025-03-30", 9, 1)]), 0..<1) == [0])
        #expect(sent.take(days([("2025-03-30", 8, 1), ("2025-03-31", 8, 1)]), 0..<2) == [1])
    }

    /// Memory stays flat; what was sent lately is remembered.
    @Test func itForgetsTheOldest() {
        var sent = SentVersions(capacity: 10)
        _ = sent.take(samples([100], ids: [0]), 0..<1)
        for id in 1...15 { _ = sent.take(samples([100], ids: [UInt64(id)]), 0..<1) }
        #expect(sent.take(samples([1], ids: [0]), 0..<1) == [], "still in the older half")
        for id in 16...30 { _ = sent.take(samples([100], ids: [UInt64(id)]), 0..<1) }
        #expect(sent.take(samples([1], ids: [0]), 0..<1) == [0])
        #expect(sent.take(samples([1], ids: [30]), 0..<1) == [])
    }
}
