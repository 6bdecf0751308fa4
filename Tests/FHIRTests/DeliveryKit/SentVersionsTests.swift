import DeliveryKit
import TestSupport
import Testing

/// A server that doesn't compare versions never ends up with an older version after it has accepted a newer one.
@Suite struct SentVersionsTests {
    @Test func anOlderVersionDoesntFollowAnAcceptedOne() {
        var sent = SentVersions()
        #expect(sent.select(samples([5, 6]), 0..<2).rows == [0, 1])
        sent.accept(samples([5, 6]), [0, 1])
        // A version that is sent again, as after a restart of the upstream.
        #expect(sent.select(samples([5, 6]), 0..<2).rows == [0, 1])
        sent.accept(samples([9], ids: [1]), [0])
        #expect(sent.select(samples([5, 6]), 0..<2) == .init(rows: [0], overtaken: [1]))
        #expect(sent.select(samples([8], ids: [1], deleted: [0]), 0..<1) == .init(overtaken: [0]), "even a deletion")
        #expect(sent.select(samples([10], ids: [1], deleted: [0]), 0..<1).rows == [0])
    }

    /// The newer version may have been refused, and then the server should get the older one.
    @Test func whatWasOnlySentOvertakesNothing() {
        let sent = SentVersions()
        #expect(sent.select(samples([9], ids: [1]), 0..<1).rows == [0])
        #expect(sent.select(samples([5], ids: [1]), 0..<1).rows == [0])
    }

    @Test func aTransactionHasEachElementOnce() {
        let sent = SentVersions()
        #expect(
            sent.select(samples([3, 7, 4, 8], ids: [1, 2, 1, 2]), 0..<4) == .init(rows: [2, 3], overtaken: [0, 1]))
        #expect(sent.select(samples([5, 4], ids: [3, 3]), 0..<2) == .init(rows: [0], overtaken: [1]))
        #expect(sent.select(samples([5, 4, 6], ids: [3, 3, 4]), 1..<3).rows == [1, 2], "only the part")
    }

    /// A store that was lost begins at 1 again; its deletions, too, take the place of what the lost one gave.
    @Test func anotherHistoryIsNotOlder() {
        var sent = SentVersions()
        sent.accept(samples([9], ids: [1]), [0])
        #expect(sent.select(samples([3], ids: [1], deleted: [0]), 0..<1, of: "two").rows == [0])
        sent.accept(samples([3], ids: [1], deleted: [0]), [0], of: "two")
        #expect(sent.select(samples([2], ids: [1]), 0..<1, of: "two").rows == [])
    }

    @Test func equalIdsOfOthersAreOthers() {
        var sent = SentVersions()
        sent.accept(samples([9], ids: [1], user: "anna"), [0])
        #expect(sent.select(samples([3], ids: [1], user: "bo"), 0..<1).rows == [0])
        sent.accept(days([("2025-03-30", 9, 1)]), [0])
        #expect(sent.select(days([("2025-03-30", 8, 1), ("2025-03-31", 8, 1)]), 0..<2).rows == [1])
    }

    /// Memory use stays constant; only what was accepted recently is remembered.
    @Test func itForgetsTheOldest() {
        var sent = SentVersions(capacity: 10)
        sent.accept(samples([100], ids: [0]), [0])
        for id in 1...15 { sent.accept(samples([100], ids: [UInt64(id)]), [0]) }
        #expect(sent.select(samples([1], ids: [0]), 0..<1).rows == [], "still in the older half")
        for id in 16...30 { sent.accept(samples([100], ids: [UInt64(id)]), [0]) }
        #expect(sent.select(samples([1], ids: [0]), 0..<1).rows == [0])
        #expect(sent.select(samples([1], ids: [30]), 0..<1).rows == [])
    }
}

extension SentVersions {
    fileprivate func select(_ group: DeliveryGroup, _ part: Range<Int>, of history: String = "one") -> Selection {
        select(DeliveryRequest(group: group, part: part, deviceId: "d", syncedAt: 0, history: history))
    }

    fileprivate mutating func accept(_ group: DeliveryGroup, _ rows: [Int], of history: String = "one") {
        accept(
            DeliveryRequest(group: group, part: 0..<group.count, deviceId: "d", syncedAt: 0, history: history), rows)
    }
}
