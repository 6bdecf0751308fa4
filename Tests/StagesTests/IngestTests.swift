import Changelog
import HTTP
import HealthModel
import IngestStage
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

/// What is pushed, from the request to the store and back.
struct IngestTests {
    @Test func eachItemIsToldWhatBecameOfIt() throws {
        let rig = try IngestRig()
        let first = try rig.post([
            IngestRig.steps(1), IngestRig.steps(2, uuid: IngestRig.uuid(2)), IngestRig.steps(3, value: 9e8),
            "{\"type\": 7}",
            "true",
        ])
        #expect(first.words == ["added", "added", "quarantined", "quarantined", "quarantined"])
        #expect(first["items"] == 5 && first["added"] == 2 && first["quarantined"] == 3)
        #expect(first["reasons"].array?.map { $0["item"].int } == [3, 4, 5])
        #expect(first["reasons"].array?.allSatisfy { $0["reason"].string?.isEmpty == false } == true)
        #expect(try rig.alive() == 2)
        // The same once more, one with more to it.
        let again = try rig.post([
            IngestRig.steps(1, uuid: IngestRig.uuid(1)), IngestRig.steps(2, uuid: IngestRig.uuid(2)),
            IngestRig.steps(3, value: 9e8),
        ])
        #expect(again.words == ["changed", "known", "quarantined"])
        #expect(try rig.alive() == 2)
        #expect(try rig.details() == IngestDetails(ingestPort: 1, taken: 2, lastTaken: Instant(seconds: 1_743_069_600)))
    }

    @Test func equalSamplesOfOneRequestAreTwoAndOfTwoRequestsOne() throws {
        let rig = try IngestRig()
        #expect(try rig.post([IngestRig.steps(1), IngestRig.steps(1)]).words == ["added", "added"])
        #expect(try rig.post([IngestRig.steps(1), IngestRig.steps(1)]).words == ["known", "known"])
        #expect(try rig.alive() == 2)
    }

    @Test func aDeletionCountsBeforeAndAfterTheSample() throws {
        let rig = try IngestRig()
        let (early, late) = (IngestRig.uuid(1), IngestRig.uuid(2))
        #expect(try rig.post([IngestRig.steps(2, uuid: late)], deleted: [early]).words == ["added", "unknown"])
        // It was deleted before anybody saw it.
        #expect(try rig.post([IngestRig.steps(1, uuid: early)]).words == ["deleted"])
        #expect(try rig.post([], deleted: [late, late]).words.first == "deleted")
        #expect(try rig.post([], deleted: [late]).words == ["known"])
        #expect(try rig.post([IngestRig.steps(2, uuid: late)]).words == ["deleted"])
        #expect(try rig.alive() == 0)
    }

    @Test func statisticsAreRestated() throws {
        let rig = try IngestRig()
        func hour(_ value: Double) -> String { IngestRig.steps(1, value: value, more: ", \"statistics\": true") }
        #expect(try rig.post([hour(100)]).words == ["added"])
        #expect(try rig.post([hour(140)]).words == ["changed"])
        #expect(try rig.post([hour(140)]).words == ["known"])
        let heads = try rig.observer.report().heads
        #expect(heads[HealthType.statistics(of: "HKQuantityTypeIdentifierStepCount")] != nil)
        #expect(heads["HKQuantityTypeIdentifierStepCount"] == nil)
        #expect(try rig.alive() == 1)
    }

    @Test func aTypesHeadIsSaidForTheTokensUser() throws {
        let rig = try IngestRig()
        _ = try rig.post([IngestRig.steps(1)])
        #expect(rig.observer.sent.contains { $0.topic == "observed.HKQuantityTypeIdentifierStepCount" })
        #expect(
            try rig.observer.store.database.prepare("SELECT count(*) FROM users WHERE name = 'anna'").firstRow {
                $0.int(0)
            } == 1)
        let other = try rig.send(body: "{\"user\": \"robin\", \"samples\": []}")
        #expect(other.status == 403 && other.text.contains("\"forbidden\""))
        #expect(try rig.send(body: "{\"user\": \"anna\", \"samples\": []}").status == 200)
    }

    @Test func wakingHasTheStackLook() throws {
        let rig = try IngestRig()
        #expect(try rig.send("POST", "/v1/wake").status == 202 && rig.woken == 1)
        #expect(try rig.send("GET", "/v1/wake").status == 405 && rig.woken == 1)
    }
}

/// The bus between ingest and observer loses messages, and the observer its memory.
struct IngestLossTests {
    private func samples(_ count: Int) -> [String] { (0..<count).map { IngestRig.steps($0, uuid: IngestRig.uuid($0)) } }

    @Test func aPartSaidTwiceIsTakenInOnce() throws {
        let rig = try IngestRig()
        rig.losses = 3
        let answer = try rig.post(samples(10) + [IngestRig.steps(100), IngestRig.steps(100)])
        #expect(answer.words == [String?](repeating: "added", count: 12))
        #expect(rig.heard.count == 4 && Set(rig.heard.map(\.id)).count == 1)
        #expect(try rig.alive() == 12)
    }

    @Test func aRequestOfSeveralPartsIsOne() throws {
        let rig = try IngestRig()
        // Two equal ones, far apart: two samples, though they come in different parts.
        let answer = try rig.post([IngestRig.steps(9_000)] + samples(5000) + [IngestRig.steps(9_000)])
        #expect(answer.words.count == 5002 && answer.words.allSatisfy { $0 == "added" })
        #expect(rig.heard.map(\.number) == [0, 1, 2] && rig.heard.map(\.isLast) == [false, false, true])
        #expect(try rig.alive() == 5002)
    }

    @Test func afterARestartItBeginsAgain() throws {
        let rig = try IngestRig()
        rig.restartBefore = 1
        let answer = try rig.post(samples(5000))
        // What the first part brought is known by now.
        #expect(answer["known"] == 2048 && answer["added"] == 2952)
        #expect(rig.heard.map(\.number) == [0, 1, 0, 1, 2] && Set(rig.heard.map(\.id)).count == 2)
        #expect(try rig.alive() == 5000)
    }

    @Test func whatIsNotAnsweredIsToBeSentAgain() throws {
        let rig = try IngestRig()
        rig.losses = .max
        let body = "{\"samples\": [\(IngestRig.steps(1))]}"
        let silent = try rig.send(body: body)
        #expect(silent.status == 503 && silent.text.contains("observer-silent") && silent.headers["Retry-After"] == "5")
        rig.losses = 0
        rig.isObserverThere = false
        #expect(try rig.send(body: body).text.contains("observer-absent"))
        rig.isObserverThere = true
        #expect(try Value(json: rig.send(body: body).body).words == ["known"])
        #expect(try rig.details().refused == 2 && rig.details().taken == 1)
    }

    /// A finished request is remembered by its answer alone, and goes on with nothing.
    @Test func afterTheLastPartNothingIsTaken() throws {
        let rig = try IngestRig()
        _ = try rig.post(samples(1))
        var more = try #require(rig.heard.first)
        more.number = 1
        rig.observer.sent = []
        try rig.observer.hear(IngestPart.topic("observer"), more.body)
        #expect(rig.observer.sent.compactMap { $0.body["beginAgain"].bool } == [true])
        // Nor is what isn't a part answered.
        rig.observer.sent = []
        try rig.observer.hear(IngestPart.topic("observer"), ["id": "x", "part": 0])
        #expect(rig.observer.sent.isEmpty)
    }
}

/// Who is let in, and with what.
struct IngestDoorTests {
    @Test(
        arguments: [
            ("POST", "/v1/samples", nil, "application/json", "{}", 401, "unauthorized"),
            ("POST", "/v1/samples", "bad", "application/json", "{}", 401, "unauthorized"),
            ("POST", "/v1/samples", "reads", "application/json", "{}", 403, "forbidden"),
            ("GET", "/v1/samples", "good", nil, "", 405, "method"), ("POST", "/v1/health", nil, nil, "", 405, "method"),
            ("POST", "/v2/samples", "good", nil, "", 404, "not-found"),
            ("POST", "/v1/samples", "good", "text/csv", "a", 415, "media-type"),
            ("POST", "/v1/samples", "good", "application/json", "{", 422, "malformed"),
            ("POST", "/v1/samples", "good", "application/json", "{}", 422, "malformed"),
            ("POST", "/v1/samples", "good", "application/x-ndjson", "\n", 422, "malformed"),
            ("POST", "/v1/samples", "good", "application/json", "{\"samples\": [], \"user\": 7}", 422, "malformed"),
        ] as [(String, String, String?, String?, String, Int, String)])
    func refusals(
        _ method: String, _ path: String, _ token: String?, _ type: String?, _ body: String, _ status: Int,
        _ code: String
    ) throws {
        let rig = try IngestRig()
        let answer = try rig.send(method, path, body: body, token: token, type: type)
        let said = try Value(json: answer.body)
        #expect(answer.status == status && said["code"].string == code, "\(answer.text)")
        #expect(said["error"].string?.isEmpty == false && said["hint"].string?.isEmpty == false)
        #expect((answer.headers["WWW-Authenticate"] != nil) == (status == 401))
        #expect((answer.headers["Allow"] != nil) == (status == 405))
        #expect(try rig.heard.isEmpty && rig.details().refused == 1)
    }

    @Test func linesAreTakenToo() throws {
        let rig = try IngestRig()
        let answer = try rig.send(
            body: IngestRig.steps(1) + "\n\nnonsense\n" + "{\"deleted\": \"\(IngestRig.uuid(1))\"}\n",
            type: "application/x-ndjson; charset=utf-8")
        #expect(try Value(json: answer.body).words == ["added", "quarantined", "unknown"])
    }

    @Test func aTokenHasItsRate() throws {
        let rig = try IngestRig(requestsPerMinute: 3)
        let answers = try (0..<5).map { _ in try rig.send(body: "{\"samples\": []}") }
        #expect(answers.map(\.status) == [200, 200, 200, 429, 429])
        #expect(Int(answers[4].headers["Retry-After"] ?? "") ?? 0 >= 1)
    }

    /// Whoever guesses is slowed down, and nobody else: behind a proxy all have one address.
    @Test func wrongTokensAreSlowedDownAndHoldNobodyUp() throws {
        let rig = try IngestRig()
        let guesses = try (0..<30).map { try rig.send(token: "guess \($0)") }
        #expect(guesses.prefix(20).allSatisfy { $0.status == 401 } && guesses.last?.status == 429)
        #expect(try rig.send(token: "guess", peer: 2).status == 401)
        #expect(try rig.send(body: "{\"samples\": []}").status == 200)
        #expect(try rig.send("GET", "/v1/health", token: nil, type: nil).status == 200)
    }

    @Test func moreItemsThanAreTakenAtOnceAreNotTaken() throws {
        let rig = try IngestRig()
        let many = [String](repeating: "1", count: 250_001).joined(separator: ",")
        let answer = try rig.send(body: "{\"samples\": [\(many)]}")
        #expect(answer.status == 413 && answer.text.contains("\"too-large\"") && rig.heard.isEmpty)
    }
}
