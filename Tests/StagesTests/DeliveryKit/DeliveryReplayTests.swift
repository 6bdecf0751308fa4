import DeliveryKit
import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct DeliveryReplayTests {
    private var replay = DeliveryReplay()
    private var none: RepairRequest?

    private static func chunk(_ id: String) -> Replay {
        Replay(id: id, from: "2025-03-11", through: "2025-03-12", users: [:])
    }

    private static func step(_ number: Int64) -> DeliveryReplay.Step {
        .samples(user: "\(number)", from: .epoch, to: .epoch, position: nil)
    }

    private static func letter(_ number: Int64) -> DeadLetter {
        DeadLetter(
            number: number, user: "me", metric: "daily", id: "\(number)", version: 1, reason: "odd", path: "/",
            status: nil, firstTried: .epoch, lastTried: .epoch, tries: 1)
    }

    private mutating func ask(_ pull: Int64) -> DeliveryReplay.Step? {
        guard replay.mayAsk, let step = replay.step else { return nil }
        replay.asked(pull)
        return step
    }

    @Test mutating func aChunkIsDeliveredStepByStep() {
        #expect(replay.hears(Self.chunk("a"))?.id == "a" && replay.isIdle)
        replay.begin("a", users: nil, steps: [Self.step(1), Self.step(2)])
        #expect(!replay.isIdle && replay.left == 2 && replay.hears(Self.chunk("a")) == nil)
        #expect(ask(1) == Self.step(1) && !replay.mayAsk)
        #expect(replay.answered(9, hasPages: true) == nil)
        #expect(replay.answered(1, hasPages: true) == Self.step(1))
        replay.goOn(Self.step(3))
        for step in [3, 2] as [Int64] {
            #expect(ask(step) == Self.step(step))
            #expect(replay.answered(step, hasPages: true) == Self.step(step))
        }
        #expect(replay.mayAsk && replay.step == nil && replay.finish() == "a")
        #expect(replay.isDone && replay.left == 0 && replay.isIdle)
        #expect(replay.hears(Self.chunk("b"))?.id == "b")
    }

    @Test mutating func aChunkThatWasDoneStaysDone() {
        replay = DeliveryReplay(done: "a")
        #expect(replay.isDone && replay.hears(Self.chunk("a")) == nil && replay.hears(Self.chunk("b")) != nil)
    }

    @Test mutating func aQuestionWithoutAnswerIsAskedAgainWhenTheChunkIsAnnounced() {
        replay.begin("a", users: nil, steps: [Self.step(1)])
        #expect(ask(1) != nil && replay.answered(1, hasPages: false) == Self.step(1))
        #expect(replay.hears(nil) == nil && ask(2) == nil)
        #expect(replay.hears(Self.chunk("a")) == nil && ask(2) == Self.step(1))
    }

    /// The store that was being read may be gone, and its successor refuses its place.
    @Test mutating func aChangelogThatWasLostIsReadFromItsBeginning() {
        func documents(_ after: SequenceNumber, _ head: StoreHead?) -> DeliveryReplay.Step {
            .documents(producer: "consolidator", topic: "daily.summary", days: 1...2, after: after, head: head)
        }
        let old = StoreHead(store: "store", generation: "old", sequence: 9)
        replay.begin("a", users: nil, isByHand: true, steps: [documents(.beginning, nil), Self.step(1)])
        _ = ask(1)
        _ = replay.answered(1, hasPages: true)
        replay.goOn(documents(5, old))
        #expect(ask(2) == documents(5, old))
        _ = replay.answered(2, hasPages: false)
        _ = replay.hears(nil)
        #expect(ask(3) == documents(.beginning, nil) && replay.left == 2)
    }

    @Test mutating func aPersonsRequestWaitsForTheHistory() {
        replay.waiting = RepairRequest(id: "p", action: "replay")
        #expect(replay.hears(Self.chunk("a")) != nil)
        replay.begin("a", users: nil, steps: [Self.step(1)])
        #expect(replay.takeWaiting(or: &none) == nil && replay.waiting != nil)
        #expect(replay.hears(nil) == nil && replay.takeWaiting(or: &none)?.id == "p")
        #expect(replay.waiting == nil)
        replay.begin("p", users: nil, isByHand: true, steps: [Self.step(1)])
        #expect(replay.hears(Self.chunk("a")) == nil, "it is finished first")
        #expect(replay.finish() == nil, "nothing about it is stored")
    }

    @Test mutating func theComparisonsRequestComesAfterAPersons() {
        var own: RepairRequest? = RepairRequest(id: "own", action: "replay")
        replay.waiting = RepairRequest(id: "p", action: "replay")
        #expect(replay.takeWaiting(or: &own)?.id == "p" && own != nil)
        #expect(replay.takeWaiting(or: &own)?.id == "own" && own == nil)
        own = RepairRequest(id: "next", action: "replay")
        replay.begin("own", users: nil, isByHand: true, steps: [Self.step(1)])
        #expect(replay.takeWaiting(or: &own) == nil && own != nil)
    }

    @Test mutating func aRestartForgetsWhatIsUnderWay() {
        replay.begin("a", users: nil, steps: [Self.step(1)])
        #expect(ask(1) != nil)
        replay.restart()
        #expect(replay.answered(1, hasPages: true) == nil && replay.hears(Self.chunk("a")) != nil)
        replay.begin("p", users: nil, isByHand: true, steps: [Self.step(1)])
        replay.restart()
        #expect(replay.isDone, "everything is delivered again anyway")
    }

    @Test mutating func aResetForgetsAllButTheHistory() {
        #expect(replay.hears(Self.chunk("a")) != nil)
        replay.waiting = RepairRequest(id: "p", action: "replay")
        replay.reset()
        #expect(replay.isIdle && replay.id == nil)
    }

    @Test mutating func aLetterIsLookedForAtEachProducer() {
        replay.begin("p", users: nil, isByHand: true, steps: [.letters(RepairSelection(), after: 0)])
        #expect(replay.takeLetter() == nil)
        replay.retry(Self.letter(1), in: ["sleep", "observer"], of: RepairSelection())
        #expect(ask(1) == .letter(Self.letter(1), producer: "sleep"))
        #expect(replay.answered(1, hasPages: true) != nil)
        replay.skip()
        #expect(replay.step == .letters(RepairSelection(), after: 1))
        #expect(replay.takeLetter() == Self.letter(1), "it was found nowhere")
        replay.retry(Self.letter(2), in: ["sleep", "observer"], of: RepairSelection())
        replay.foundLetter()
        #expect(replay.step == .letters(RepairSelection(), after: 2) && replay.takeLetter() == nil)
        replay.retry(nil, in: [], of: RepairSelection())
        #expect(replay.step == nil)
    }
}
