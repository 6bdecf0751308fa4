import StageKit
import Synchronization
import TestSupport
import Testing

/// Effects on threads of their own: in order on each, with what belongs to the thread made once, and none after the end.
@Suite(.inTurn) struct EffectThreadTests {
    private struct Work: Sendable { var number: Int }

    private final class Runner: ThreadedRunner {
        let thread: EffectThread

        init(_ begun: @escaping @Sendable (Int) -> Void) {
            thread = EffectThread("one", "two") { thread in
                begun(thread)
                return { job in if let work = job.effect.request as? Work { job.answer(work.number) } }
            }
        }
    }

    @Test func effectsAreAnsweredUntilTheEnd() {
        let begun = Counts()
        let answered = Counts()
        let runner = Runner { begun.add($0) }
        for number in 1...20 {
            runner.perform(Effect(id: Int64(number), request: Work(number: number))) { result in
                answered.add(result.id == (result.value as? Int).map(Int64.init) ? number : 0)
                return true
            }
        }
        runner.perform(Effect(id: 21, request: "unknown")) { _ in
            answered.add(21)
            return true
        }
        #expect(eventually { answered.sorted == Array(1...20) })
        #expect(eventually { begun.sorted == [0, 1] })
        runner.stop()
        runner.perform(Effect(id: 22, request: Work(number: 22))) { _ in
            answered.add(22)
            return true
        }
        #expect(answered.sorted == Array(1...20))
    }
}

private final class Counts: Sendable {
    private let all = Mutex<[Int]>([])

    func add(_ one: Int) { all.withLock { $0.append(one) } }
    var sorted: [Int] { all.withLock { $0.sorted() } }
}
