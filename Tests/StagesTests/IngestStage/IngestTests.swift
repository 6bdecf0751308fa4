import Changelog
import HTTP
import HealthModel
import HealthStore
import IngestStage
import ObserverReading
import ObserverStage
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

/// Pushed samples, from the request to the store and back.
struct IngestTests {
    @Test func eachItemIsAnsweredWithItsOutcome() throws {
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
        // The same items again, one of them with more detail.
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
        // It was deleted before any consumer saw it.
        #expect(try rig.post([IngestRig.steps(1, uuid: early)]).words == ["deleted"])
        #expect(try rig.post([], deleted: [late, late]).words.first == "deleted")
        #expect(try rig.post([], deleted: [late]).words == ["known"])
        #expect(try rig.post([IngestRig.steps(2, uuid: late)]).words == ["deleted"])
        #expect(try rig.alive() == 0)
    }

    /// Two samples have the same UUID but different content: the stored one stays, and the other is reported and
    /// listed.
    @Test func aRepeatedIDWithOtherContentIsAConflict() throws {
        let rig = try IngestRig()
        let uuid = IngestRig.uuid(1)
        #expect(try rig.post([IngestRig.steps(1, uuid: uuid)]).words == ["added"])
        let other = try rig.post([IngestRig.steps(1, uuid: uuid, value: 40)])
        #expect(other.words == ["quarantined"])
        #expect(other["reasons"].array?.map { $0["reason"].string } == [RecordConflict.reason])
        let heart = "{\"type\": \"HKQuantityTypeIdentifierHeartRate\", \"start\": 1743000060, \"value\": 60, "
        let others = [IngestRig.steps(9, uuid: uuid), heart + "\"uuid\": \"\(uuid)\"}"]
        #expect(try rig.post(others).words == ["quarantined", "quarantined"])
        // Equal content isn't a conflict, and a repeated conflict is counted, but not listed twice.
        #expect(try rig.post([IngestRig.steps(1, uuid: uuid, value: 12.0001)]).words != ["quarantined"])
        #expect(try rig.post([IngestRig.steps(1, uuid: uuid, value: 40)]).words == ["quarantined"])
        #expect(try rig.alive() == 1)
        let listed = try HealthStoreReader(database: rig.observer.store.database)
            .quarantinedRecords(after: 0, limit: 10).map(\.entry)
        let conflicts = listed.compactMap { RecordConflict(json: $0.raw) }
        #expect(conflicts.map(\.other.value) == [40, 12, 60] && listed.map(\.seen) == [2, 1, 1])
        #expect(conflicts.map(\.kept?.value) == [12, 12, nil])
        let moved = try #require(conflicts.first { $0.other.start != $0.kept?.start && $0.kept != nil })
        #expect(moved.kept.map { moved.other.start - $0.start } == .seconds(480))
    }

    @Test func aHigherVersionReplacesAndALowerOneChangesNothing() throws {
        let rig = try IngestRig()
        func version(_ number: Int, _ value: Double) -> String {
            IngestRig.steps(
                1, uuid: IngestRig.uuid(1), value: value,
                more: ", \"metadata\": {\"HKMetadataKeySyncVersion\": \(number)}")
        }
        #expect(try rig.post([version(9, 12)]).words == ["added"])
        #expect(try rig.post([version(10, 40)]).words == ["changed"])
        #expect(try rig.post([version(9, 12)]).words == ["known"])
        #expect(try rig.post([version(10, 40)]).words == ["known"])
        #expect(try rig.post([version(10, 50)]).words == ["quarantined"])
        let alive = try changes(rig).flatMap { page in
            page.value.indices.filter { !page.flags[$0].contains(.deleted) }.map { page.value[$0] }
        }
        #expect(alive == [40])
    }

    /// Everything that an anchored query returns when it starts from the beginning.
    private func changes(_ rig: IngestRig, _ predicate: Value? = nil) throws -> [SamplePage] {
        var pages: [SamplePage] = []
        try ObserverSource(database: rig.observer.store.database).answer(
            Question(
                .samples(.allExcept([]), predicate: predicate),
                PullPlace(after: AnchorVector(base: .beginning), until: AnchorVector(base: .end))),
            for: "cli-1", head: rig.observer.store.head
        ) { page, _ in
            if let found = page as? SamplesPage { pages.append(found.samples) }
        }
        return pages
    }

    /// A consumer that asked for runs has this run, and must learn that it is gone, though its tombstone no longer
    /// says that it was a run.
    @Test func anActivityPredicateDropsNoDeletion() throws {
        let rig = try IngestRig()
        let uuid = IngestRig.uuid(1)
        let run =
            "{\"uuid\": \"\(uuid)\", \"type\": \"HKWorkoutTypeIdentifier\", \"start\": 1743000000, "
            + "\"end\": 1743001800, \"workout\": {\"activity\": \"running\", \"durationSeconds\": 1790}}"
        #expect(try rig.post([run]).words == ["added"])
        func deletions(_ activity: Value) throws -> [Bool] {
            try changes(rig, ["activities": [activity]]).flatMap(\.flags).map { $0.contains(.deleted) }
        }
        #expect(try deletions("running") == [false] && deletions("cycling") == [])
        #expect(try rig.post([], deleted: [uuid]).words == ["deleted"])
        #expect(try deletions("running") == [true] && deletions("cycling") == [true])
    }

    /// Input that a person dropped from the quarantine doesn't reappear when it is sent again.
    @Test func whatWasDroppedIsAnsweredAsDeleted() throws {
        let rig = try IngestRig()
        let odd = [
            "{\"type\": \"HKQuantityTypeIdentifierStepCount\", \"start\": \"then\"}", IngestRig.steps(1, value: -5),
        ]
        #expect(try rig.post(odd).words == ["quarantined", "quarantined"])
        let drop = RepairRequest(id: "drop", action: "drop")
        try rig.observer.turn { _ = try rig.observer.stage.repair(drop, $0) }
        try rig.observer.turn { _ = try rig.observer.stage.repaired(drop, $0) }
        let again = try rig.post(odd + ["{\"type\": 7}"])
        #expect(again.words == ["deleted", "deleted", "quarantined"], "\(again.json())")
        #expect(again["quarantined"] == 1)
        #expect(try rig.observer.report().details["quarantined"] == 1)
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
}

/// The bus between ingest and observer loses messages, and the observer loses its memory.
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
        // Two equal items that are far apart are two samples, even if they arrive in different parts.
        let answer = try rig.post([IngestRig.steps(9_000)] + samples(5000) + [IngestRig.steps(9_000)])
        #expect(answer.words.count == 5002 && answer.words.allSatisfy { $0 == "added" })
        #expect(rig.heard.map(\.number) == [0, 1, 2] && rig.heard.map(\.isLast) == [false, false, true])
        #expect(try rig.alive() == 5002)
    }

    @Test func afterARestartItBeginsAgain() throws {
        let rig = try IngestRig()
        rig.restartBefore = 1
        let answer = try rig.post(samples(5000))
        // By now the outcome of the first part is known.
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

    /// Once a request is finished, only its answer is remembered, and no more parts are accepted.
    @Test func afterTheLastPartNothingIsTaken() throws {
        let rig = try IngestRig()
        _ = try rig.post(samples(1))
        var more = try #require(rig.heard.first)
        more.number = 1
        rig.observer.sent = []
        try rig.observer.hear(IngestPart.topic("observer"), more.body)
        #expect(rig.observer.sent.compactMap { $0.body["beginAgain"].bool } == [true])
        // Anything that isn't a part gets no answer at all.
        rig.observer.sent = []
        try rig.observer.hear(IngestPart.topic("observer"), ["id": "x", "part": 0])
        #expect(rig.observer.sent.isEmpty)
    }
}

/// Which callers are let in, and with which token.
struct IngestDoorTests {
    @Test(
        arguments: [
            ("POST", "/v1/samples", nil, "application/json", "{}", 401, "unauthorized"),
            ("POST", "/v1/samples", "bad", "application/json", "{}", 401, "unauthorized"),
            ("POST", "/v1/samples", "reads", "application/json", "{}", 403, "forbidden"),
            ("POST", "/v1/wake", nil, nil, "", 401, "unauthorized"),
            ("POST", "/v1/wake", "reads", nil, "", 403, "forbidden"),
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
        #expect(try rig.heard.isEmpty && rig.woken.isEmpty && rig.details().refused == 1)
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
        for _ in 0..<5 { #expect(try rig.send("GET", "/v1/health", token: nil, type: nil).status == 200) }
    }

    /// Only a client that guesses tokens is slowed down: behind a proxy, all clients have the same address.
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
