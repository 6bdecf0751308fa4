import ConsolidatorStage
import HealthModel
import Protocol
import TestSupport
import Testing

/// Which mark is reached, from what handlers say and what of their outputs is consumed.
@Suite struct FinalMarkTests {
    private var mark = FinalMark(handlers: ["sleep"])

    private mutating func sleep(frontier: Int64, head: Int64, _ generation: String = "one") {
        mark.heard(.init(frontier: .init(frontier), head: .init(head), generation: generation), from: "sleep")
    }

    private mutating func reaches(_ head: Int64) -> Bool {
        mark.offer(.init(head), at: .epoch, monotonic: .distantPast)
        defer { mark.withdraw() }
        return mark.reached() != nil
    }

    @Test mutating func outputsThatAreConsumedCount() {
        sleep(frontier: 5, head: 9)
        mark.consumed(8, "one", of: "sleep")
        #expect(!reaches(5))
        mark.consumed(9, "one", of: "sleep")
        #expect(reaches(5) && !reaches(6))
    }

    /// Somebody put an older copy of the handler's folder back: it never reaches the heads that it gave out before.
    @Test mutating func aStoreThatWentBackHoldsUpNothing() {
        sleep(frontier: 5, head: 9)
        mark.consumed(3, "two", of: "sleep")
        #expect(!reaches(5), "what it said is about another store")
        sleep(frontier: 6, head: 9, "one")
        sleep(frontier: 4, head: 3, "two")
        mark.consumed(3, "two", of: "sleep")
        #expect(reaches(4) && !reaches(5))
    }

    @Test mutating func whatANewStoreHasNotDoneYetIsNotCovered() {
        sleep(frontier: 5, head: 9)
        mark.consumed(9, "one", of: "sleep")
        #expect(reaches(5))
        mark.consumed(0, "two", of: "sleep")
        #expect(!reaches(1) && mark.covered == nil)
    }
}
