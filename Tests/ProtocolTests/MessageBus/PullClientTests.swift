import Changelog
import HealthModel
import MessageBus
import Protocol
import TestSupport
import Testing

extension PullClient {
    fileprivate mutating func receive(_ part: Value, at now: MonotonicTime) -> PullAnswer? {
        receive(part, from: "them", at: now)
    }
}

@Suite struct PullClientTests {
    private let head = StoreHead(store: "s", generation: "g", sequence: 9)

    private func part(
        _ number: Int, of id: Int64 = 1, attempt: Int64 = 0, last: Bool = false, head: StoreHead? = nil
    ) -> Value {
        [
            "id": .integer(id), "attempt": .integer(attempt), "part": .integer(Int64(number)), "last": .bool(last),
            "head": Value(head ?? self.head), "producer": "them",
        ]
    }

    private func asked(_ id: Int64 = 1) -> PullClient {
        var client = PullClient(consumer: "me")
        _ = client.begin(Pull(id: id, producer: "them", query: .changes()), at: 0)
        return client
    }

    @Test func aRequestSaysWhoAsksAndWhichTry() {
        var client = PullClient(consumer: "me")
        let request = client.begin(Pull(id: 7, producer: "them", query: .changes()), at: 0)
        #expect(request.topic == "pull.them")
        #expect(request.body == ["query": "changes", "id": 7, "attempt": 0, "consumer": "me"])
    }

    @Test func partsInOrderAreAnAnswer() {
        var client = asked()
        #expect(client.receive(part(0), at: 0) == nil)
        #expect(client.receive(part(0), at: 0) == nil)
        #expect(client.receive(part(1), at: 0) == nil)
        let answer = client.receive(part(2, last: true), at: 0)
        #expect(answer?.result == .pages([part(0), part(1), part(2, last: true)]))
        // An answer is returned only once: a repeat belongs to no request.
        #expect(client.receive(part(0, last: true), at: 0) == nil)
        #expect(client.nextDeadline == nil)
    }

    @Test func whatIsWithdrawnIsAskedForNoMore() {
        var client = asked()
        _ = client.begin(Pull(id: 2, producer: "them", query: .changes()), at: 0)
        client.forget(1)
        #expect(client.receive(part(0, last: true), at: 0) == nil)
        #expect(client.overdue(at: .seconds(10)).map { $0.body["id"] } == [2])
    }

    @Test func aLostPartBringsTheWholeAgain() {
        var client = asked()
        #expect(client.receive(part(0), at: 0) == nil)
        #expect(client.receive(part(2, last: true), at: 0) == nil)
        #expect(client.overdue(at: 999_999).isEmpty)
        let again = client.overdue(at: .seconds(1))
        #expect(again.map(\.topic) == ["pull.them"] && again.first?.body["attempt"] == 1)
        // The rest of the first attempt arrives too late.
        #expect(client.receive(part(1), at: .seconds(1)) == nil)
        #expect(client.receive(part(0, attempt: 1), at: .seconds(1)) == nil)
        #expect(client.receive(part(1, attempt: 0, last: true), at: .seconds(1)) == nil)
        let answer = client.receive(part(1, attempt: 1, last: true), at: .seconds(1))
        #expect(answer?.result == .pages([part(0, attempt: 1), part(1, attempt: 1, last: true)]))
    }

    @Test func answersOfTwoMomentsAreNotMixed() {
        var client = asked()
        let later = StoreHead(store: "s", generation: "g", sequence: 12)
        #expect(client.receive(part(0), at: 0) == nil)
        #expect(client.receive(part(1, last: true, head: later), at: 0) == nil)
        // The other answer is just as good, if it is read from its beginning.
        #expect(client.receive(part(0, head: later), at: 0) == nil)
        #expect(client.receive(part(1, last: true), at: 0) == nil)
        #expect(
            client.receive(part(1, last: true, head: later), at: 0)?.result
                == .pages([part(0, head: later), part(1, last: true, head: later)]))
    }

    @Test func waitsLongerEachTime() {
        var client = asked()
        var now: MonotonicTime = 0
        var waits: [Int64] = []
        for _ in 0..<6 {
            let next = client.nextDeadline ?? 0
            waits.append((next - now).components.seconds)
            now = next
            #expect(client.overdue(at: now).count == 1)
        }
        #expect(waits == [1, 2, 4, 8, 8, 8])
    }

    @Test func resetAndRefusalEndIt() {
        var client = asked()
        var body: [String: Value] = [
            "id": 1, "attempt": 0, "error": "reset", "head": Value(head), "producer": "them",
        ]
        #expect(client.receive(.object(body), at: 0)?.result == .reset(head))
        client = asked()
        body["error"] = "refused"
        body["reason"] = "makes no sense"
        #expect(client.receive(.object(body), at: 0)?.result == .refused("makes no sense"))
        #expect(client.overdue(at: .distantFuture).isEmpty)
    }

    /// If a sender knows the id but isn't the one that was asked, its message is dropped and counted, whatever it
    /// contains; the requested answer still arrives.
    @Test(arguments: ["page", "empty", "reset", "refused", "databaseInaccessible"])
    func onlyWhoWasAskedIsBelieved(_ what: String) {
        var client = asked()
        var forged = part(0, last: true)
        if what == "empty", var members = forged.object {
            members["through"] = .integer(.max)
            forged = .object(members)
        } else if what != "page", var members = forged.object {
            members["error"] = .string(what)
            forged = .object(members)
        }
        #expect(client.receive(forged, from: "sleep", at: 0) == nil)
        #expect(client.receive(forged, from: "client-them-1-2", at: 0) == nil)
        // A sender under its own name gains nothing by putting another's name in the body.
        var members = forged.object ?? [:]
        members["producer"] = "sleep"
        #expect(client.receive(.object(members), from: "sleep", at: 0) == nil)
        #expect(client.receive(.object(members), from: "them", at: 0) == nil)
        #expect(client.foreign == 4 && client.refusals.isEmpty)
        let answer = client.receive(part(0, last: true), at: 0)
        #expect(answer?.result == .pages([part(0, last: true)]))
        // An answer to a request that is no longer open is late, but not a fault.
        #expect(client.receive(forged, from: "sleep", at: 0) == nil && client.foreign == 4)
    }

    /// A part from another sender in the middle of an answer does no harm.
    @Test func aForgedPartDoesNotSpoilAnAnswer() {
        var client = asked()
        #expect(client.receive(part(0), at: 0) == nil)
        #expect(client.receive(part(1, last: true), from: "sleep", at: 0) == nil)
        #expect(
            client.receive(part(0, head: StoreHead(store: "x", generation: "y", sequence: 1)), from: "sleep", at: 0)
                == nil)
        #expect(client.receive(part(1, last: true), at: 0)?.result == .pages([part(0), part(1, last: true)]))
    }

    @Test func anAnswerWithoutEndIsNotKept() {
        var client = asked()
        for number in 0..<500 { #expect(client.receive(part(number), at: 0) == nil) }
        // The answer is requested again, and can then be completed.
        #expect(client.overdue(at: .seconds(2)).count == 1)
        #expect(client.receive(part(0, attempt: 1, last: true), at: .seconds(1)) != nil)
    }

    @Test func aRefusalIsReportedUntilItIsAnswered() {
        var client = asked()
        let refused: Value = ["id": 1, "attempt": 0, "error": "refused", "reason": "no", "producer": "them"]
        #expect(client.receive(refused, at: 0)?.result == .refused("no"))
        #expect(client.refusals == ["them/changes": "no"])
        _ = client.begin(Pull(id: 2, producer: "them", query: .changes()), at: 0)
        #expect(client.receive(part(0, of: 2, last: true), at: 0) != nil)
        #expect(client.refusals.isEmpty)
    }

    @Test func whatIsDueIsAskedInTheOrderOfAsking() {
        var client = PullClient(consumer: "me")
        let ids: [Int64] = [900, 3, 77, 12, 500]
        for id in ids { _ = client.begin(Pull(id: id, producer: "them"), at: 0) }
        #expect(client.overdue(at: .seconds(1)).map { $0.body["id"].int } == ids)
    }

    @Test func otherPeoplesPagesAreDropped() {
        var client = asked()
        #expect(client.receive(part(0, of: 2, last: true), at: 0) == nil)
        #expect(client.receive(.null, at: 0) == nil)
    }
}
