import HealthModel
import IngestStage
import Protocol
import Testing

/// When a request's parts are said, again and again, and when they are given up.
struct RequestHandoverTests {
    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(microseconds: 1_000_000_000 + 1000 * milliseconds)
    }

    private static func parts(_ id: String, _ count: Int64 = 2) -> [IngestPart] {
        (0..<count).map { IngestPart(id: id, number: $0, user: "me", device: "phone", way: "/v1/samples") }
    }

    private static func handover() -> RequestHandover {
        var pace = RequestHandover.Pace()
        (pace.repeatAfter, pace.patience, pace.longest) = (.milliseconds(100), .milliseconds(250), .milliseconds(400))
        var handover = RequestHandover(pace, at: at(0))
        handover.begin(parts("a"), at: at(0))
        return handover
    }

    /// The part to say and for how many milliseconds, or the end.
    private static func text(_ handover: RequestHandover, _ time: Int64) -> String {
        switch handover.step(at: at(time)) {
        case .begin: "begin"
        case .send(let part, let wait): "\(part.id) \(part.number) for \(wait.microseconds / 1000)"
        case .done(let receipts): "done \(receipts.map(\.part))"
        case .failed(let failure): "\(failure)"
        }
    }

    @Test func aPartIsGivenUpAfterAWhile() {
        let handover = Self.handover()
        #expect(
            [0, 100, 200, 250].map { Self.text(handover, $0) } == [
                "a 0 for 100", "a 0 for 100", "a 0 for 50", "silent",
            ])
    }

    @Test func eachPartHasItsTimeUntilTheRequestHasNone() {
        var handover = Self.handover()
        let isTaken = handover.take(IngestReceipt(id: "a", part: 0), at: Self.at(240))
        #expect(isTaken)
        #expect([240, 380, 400].map { Self.text(handover, $0) } == ["a 1 for 100", "a 1 for 20", "silent"])
        handover.take(IngestReceipt(id: "a", part: 1), at: Self.at(390))
        #expect(Self.text(handover, 500) == "done [0, 1]")
        let isTakenTwice = handover.take(IngestReceipt(id: "a", part: 1), at: Self.at(500))
        #expect(!isTakenTwice)
    }

    @Test func onlyTheReceiptOfThePartCounts() {
        var handover = Self.handover()
        for other in [IngestReceipt(id: "b", part: 0), IngestReceipt(id: "a", part: 1)] {
            let isTaken = handover.take(other, at: Self.at(10))
            #expect(!isTaken)
        }
        #expect(Self.text(handover, 10) == "a 0 for 100")
        handover.take(IngestReceipt(id: "a", part: 0, refused: "full"), at: Self.at(20))
        #expect(Self.text(handover, 20) == "refused(\"full\")")
    }

    @Test func aRequestBeginsAgainWhileThereIsTime() {
        var handover = Self.handover()
        handover.take(IngestReceipt(id: "a", part: 0), at: Self.at(10))
        handover.take(IngestReceipt(id: "a", part: 1, beginAgain: true), at: Self.at(20))
        let isOldTaken = handover.take(IngestReceipt(id: "a", part: 0), at: Self.at(20))
        #expect(Self.text(handover, 20) == "begin" && !isOldTaken)
        handover.begin(Self.parts("b"), at: Self.at(300))
        #expect(Self.text(handover, 300) == "b 0 for 100")
        handover.take(IngestReceipt(id: "b", part: 0, beginAgain: true), at: Self.at(400))
        #expect(Self.text(handover, 400) == "silent")
    }

    @Test func nothingIsDoneAtOnce() {
        var handover = RequestHandover(.init(), at: Self.at(0))
        #expect(Self.text(handover, 0) == "begin")
        handover.begin([], at: Self.at(0))
        #expect(Self.text(handover, 0) == "done []")
    }
}
