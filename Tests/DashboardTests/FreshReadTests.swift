import DashboardStage
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Nobody is given what was read before they asked.
@Suite(.inTurn) struct FreshReadTests {
    private final class Store: Sendable {
        let content = Mutex(0)
        let copy = Mutex(0)
        let reads = Mutex(0)
        /// What each thread had after its call.
        let results = Mutex<[Int]>([])
        /// Whether a read has looked at the content, but not yet ended.
        let hasLooked = Mutex(false)
        let mayEnd = DispatchSemaphore(value: 0)

        /// A read that takes its copy at the beginning and ends when it may.
        func readSlowly() -> Bool {
            let seen = content.withLock { $0 }
            hasLooked.withLock { $0 = true }
            mayEnd.wait()
            copy.withLock { $0 = seen }
            reads.withLock { $0 += 1 }
            return true
        }
    }

    @Test func whoAsksDuringAReadWaitsForTheNext() {
        let (store, fresh) = (Store(), FreshRead())
        func ask() {
            Thread {
                _ = fresh.call { store.readSlowly() }
                let copy = store.copy.withLock { $0 }
                store.results.withLock { $0.append(copy) }
            }.start()
        }
        ask()
        #expect(eventually { store.hasLooked.withLock { $0 } })
        store.content.withLock { $0 = 1 }
        for _ in 0..<3 { ask() }
        store.mayEnd.signal()
        #expect(eventually { store.results.withLock { $0 == [0] } })
        for _ in 0..<3 { store.mayEnd.signal() }
        #expect(eventually { store.results.withLock { $0.count == 4 } })
        // What came during the first read is in all the others' answers.
        #expect(store.results.withLock { $0 } == [0, 1, 1, 1])
        #expect((2...4).contains(store.reads.withLock { $0 }))
    }

    @Test func aFailedReadIsNoAnswer() {
        let fresh = FreshRead()
        #expect(!fresh.call { false })
        #expect(fresh.call { true })
    }
}
