import DeliveryKit
import Testing

struct DeliveryBatchTests {
    @Test(
        arguments: [
            ([], [0..<8]), ([0], [1..<8]), ([7], [0..<7]), ([3], [0..<3, 4..<8]), ([0, 1, 7], [2..<7]),
            ([2, 4, 9, -1], [0..<2, 3..<4, 5..<8]), (Array(0..<8), []),
        ] as [([Int], [Range<Int>])])
    func whatIsRemovedIsntSentAgain(_ elements: [Int], _ parts: [Range<Int>]) {
        var batch = DeliveryBatch(count: 8)
        batch.remove(elements)
        #expect(batch.parts == parts)
    }

    @Test(
        arguments: [
            (3, [0..<3, 3..<6, 6..<8]), (4, [0..<4, 4..<8]), (8, [0..<8]), (.max, [0..<8]), (0, [0..<8]),
        ] as [(Int, [Range<Int>])])
    func aLargePartGoesInPieces(_ count: Int, _ parts: [Range<Int>]) {
        var batch = DeliveryBatch(count: 8)
        batch.split(to: count)
        #expect(batch.parts == parts)
        batch.settle()
        batch.split(to: count)
        #expect(batch.parts == Array(parts.dropFirst()))
    }

    @Test func whatIsHeldIsntSettled() {
        var batch = DeliveryBatch(count: 2)
        batch.split()
        batch.hold()
        batch.settle()
        #expect(batch.next == nil && batch.held == [0] && !batch.isSettled)
        // An element that is refused once is sent again; refused twice, it becomes a dead letter.
        #expect(batch.settleHeld() == [] && batch.next == 0..<1 && batch.held.isEmpty)
        batch.hold()
        #expect(batch.settleHeld() == [0] && batch.isSettled)
    }

    @Test func whatTheBackendCausedDoesntCount() {
        var batch = DeliveryBatch(count: 1)
        batch.hold()
        _ = batch.settleHeld()
        batch.hold()
        batch.forgetHearings()
        #expect(batch.settleHeld() == [] && batch.next == 0..<1)
    }

    @Test func whatIsReleasedComesLast() {
        var batch = DeliveryBatch(count: 4)
        batch.split()
        batch.split()
        batch.hold()
        batch.release()
        #expect(batch.parts == [1..<2, 2..<4, 0..<1])
    }
}
