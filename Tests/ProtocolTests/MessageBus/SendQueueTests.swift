import CZeroMQ
import Clocks
import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(30))) struct SendQueueTests {
    private func frames(_ number: Int) -> [[UInt8]] { [Array("\(number)".utf8)] }

    @Test func aFullQueueDropsTheOldest() {
        let queue = SendQueue()
        #expect(queue.add(frames(0)))
        for number in 1..<(SendQueue.limit + 10) { #expect(!queue.add(frames(number))) }
        #expect(queue.dropped == 10)
        #expect(queue.takeAll() == (10..<(SendQueue.limit + 10)).map(frames))
        #expect(queue.add(frames(0)))
    }

    @Test func whatIsPutBackComesFirst() {
        let queue = SendQueue()
        for number in 0..<4 { _ = queue.add(frames(number)) }
        let taken = queue.takeAll()
        _ = queue.add(frames(4))
        queue.putBack(taken[2...])
        #expect(queue.takeAll() == [2, 3, 4].map(frames))
        #expect(queue.dropped == 0)
    }

    @Test func onlyTheNewestOfWhatIsPutBackFindsRoom() {
        let queue = SendQueue()
        for number in 0..<4 { _ = queue.add(frames(number)) }
        let taken = queue.takeAll()
        for number in 4..<(SendQueue.limit + 2) { _ = queue.add(frames(number)) }
        queue.putBack(taken[...])
        #expect(queue.takeAll() == (2..<(SendQueue.limit + 2)).map(frames))
        #expect(queue.dropped == 2)
    }

    @Test func aSenderOfMuchWaitsForRoom() throws {
        let queue = SendQueue()
        for number in 0...SendQueue.room { _ = queue.add(frames(number)) }
        let hasRoom = Mutex(false)
        let thread = Thread {
            queue.waitForRoom(.seconds(600))
            hasRoom.withLock { $0 = true }
        }
        thread.start()
        queue.waitForRoom(.milliseconds(20))
        #expect(!hasRoom.withLock { $0 })
        _ = queue.takeAll()
        #expect(eventually { hasRoom.withLock { $0 } })
    }

    /// While a hub accepts nothing, a process's messages wait, in order.
    @Test func aHubWithoutRoomLosesNothing() throws {
        let folder = try TemporaryFolder()
        let address = BusAddress(folder: folder.path)
        let hub = try ZeroMQSocket(try ZeroMQContext(), type: ZMQ_SUB)
        try hub.subscribe("")
        try hub.bind(address.publish)
        let sender = try sender(address)
        var heard: [Int64] = []
        func hear() throws {
            while let frames = try hub.receive() {
                if let number = try Message(frames: frames).body["number"].int { heard.append(number) }
            }
        }
        try #require(
            try eventually {
                sender.send(message("a", .object(["number": -1])))
                try hear()
                return !heard.isEmpty
            })
        // This is far more than both sockets and the kernel can hold.
        let padding = Value.string(String(repeating: "x", count: 50_000))
        for number in 0..<600 {
            sender.send(message("a", .object(["number": .integer(Int64(number)), "padding": padding])))
        }
        #expect(
            try eventually {
                try hear()
                return heard.last == 599
            })
        #expect(heard.filter { $0 >= 0 } == Array(0..<600))
        #expect(sender.counters.dropped == 0)
        sender.close()
    }
}
