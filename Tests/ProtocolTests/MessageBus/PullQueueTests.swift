import HealthModel
import MessageBus
import Testing

@Suite struct PullQueueTests {
    private func request(_ id: Int64, _ consumer: String = "sleep", attempt: Int64 = 0) -> Value {
        ["id": .integer(id), "consumer": .string(consumer), "attempt": .integer(attempt)]
    }

    private func offer(_ request: Value, from sender: String, to queue: inout PullQueue) -> Bool {
        queue.offer(request, from: sender)
    }

    private func taken(_ queue: inout PullQueue) -> [Int64] {
        var ids: [Int64] = []
        while let next = queue.take() { ids.append(next["id"].int ?? -1) }
        return ids
    }

    /// A consumer that asks endlessly holds up only itself: the first request of another is the second to be answered.
    @Test func oneThatFloodsKeepsOnlyItselfWaiting() {
        var queue = PullQueue()
        for id in 0..<1000 { queue.offer(request(Int64(id)), from: "sleep") }
        queue.offer(request(5000, "uploader"), from: "uploader")
        queue.offer(request(5001, "uploader"), from: "uploader")
        let ids = taken(&queue)
        #expect(ids.count == PullQueue.limit + 2)
        #expect(ids.firstIndex(of: 5000) == 1 && ids.firstIndex(of: 5001) == 3)
    }

    /// An instance may use any number of tool names, but gets only one turn for all of them.
    @Test func toolsOfOneShareItsTurn() {
        var queue = PullQueue()
        for number in 0..<200 {
            let name = "client-sleep-\(number)-7"
            queue.offer(request(Int64(number), name), from: name)
        }
        queue.offer(request(5000, "steps"), from: "steps")
        let ids = taken(&queue)
        #expect(ids.firstIndex(of: 5000) == 1 && ids.count == PullQueue.limit + 1)
    }

    @Test func aRepeatTakesThePlaceOfTheFirst() {
        var queue = PullQueue()
        queue.offer(request(1), from: "sleep")
        queue.offer(request(2), from: "sleep")
        queue.offer(request(1, attempt: 1), from: "sleep")
        #expect(queue.take()?["attempt"] == 1)
        #expect(taken(&queue) == [2])
    }

    @Test func moreThanItHoldsIsDropped() {
        var queue = PullQueue()
        for number in 0..<PullQueue.askers {
            #expect(offer(request(1), from: "a\(number)", to: &queue))
        }
        #expect(!offer(request(1), from: "one-too-many", to: &queue))
        #expect(taken(&queue).count == PullQueue.askers)
        #expect(offer(request(1), from: "one-too-many", to: &queue))
    }
}
