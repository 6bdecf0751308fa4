import BackgroundDelivery
import Changelog
import DeliveryKit
import HTTP
import HealthModel
import Logging
import MessageBus
import Protocol
import SQLite
import Simulation
import StageKit
import TestSupport
import Testing
import UploaderStage

@Suite struct UploaderStageTests {
    private let rig: StageRig<DeliveryStage>

    init() throws {
        rig = try StageRig {
            DeliveryStage(
                observer: "observer", handlers: ["sleep"], consolidator: "consolidator",
                policy: RetryPolicy(base: 1, cap: 8), generator: SeededRandom(seed: 5), instance: "uploader",
                family: { _ in .other })
        }
    }

    /// The consolidator has summaries of these days, each with its sequence number as its version.
    private func summaries(_ days: [Int64], head sequence: Int64) throws {
        try rig.hear(beat("consolidator", head(sequence, store: "consolidator")))
        try answerSummaries(days, head: sequence)
    }

    private func answerSummaries(_ days: [Int64], head sequence: Int64) throws {
        let pull = try #require(rig.pulls.first { $0.producer == "consolidator" })
        let rows = days.map { number in
            KeyedChangelog.Row(
                sequence: SequenceNumber(number), key: "day/me/2025-03-\(10 + number)", topic: "daily.summary",
                user: "me",
                day: Int(number), body: ["date": .string("2025-03-\(10 + number)"), "steps": .integer(number)])
        }
        try rig.answer(
            pull,
            .pages([
                [
                    "rows": .array(rows.map(\.wireValue)), "through": .integer(sequence),
                    "head": Value(head(sequence, store: "consolidator")),
                ]
            ]))
    }

    /// The requests in progress.
    private var uploads: [Effect] { rig.effects.filter { $0.request is DeliveryRequest } }

    private func request() throws -> (effect: Effect, request: DeliveryRequest) {
        let effect = try #require(uploads.first)
        return (effect, try #require(effect.request as? DeliveryRequest))
    }

    private func dates(_ request: DeliveryRequest) throws -> [String] {
        (try Value(json: request.body)["days"].array ?? []).compactMap { $0["date"].string }
    }

    private func status(_ status: Int, retryAfter: String? = nil) throws {
        try rig.reply(request().effect, UploadReply.answered(status: status, retryAfter: retryAfter, body: []))
    }

    private func accept(_ backend: inout FakeBackend) throws {
        let (effect, request) = try request()
        try rig.reply(effect, try backend.take(request))
    }

    private func frontier() throws -> SequenceNumber? { try rig.report().frontier["consolidator"] }
    private func detail(_ name: String) throws -> Value { try rig.report().details[name] ?? .null }

    @Test func theAnchorMovesOnlyAfterTheAnswer() throws {
        var backend = FakeBackend()
        try summaries([1, 2], head: 2)
        #expect(try frontier() == 0)
        let (_, request) = try request()
        #expect(request.path == "/api/v1/sync/daily")
        #expect(try dates(request) == ["2025-03-11", "2025-03-12"])
        try accept(&backend)
        #expect(try frontier() == 2)
        #expect(try detail("delivered") == ["daily": 2])
        try rig.restart()
        #expect(try frontier() == 2)
    }

    @Test func theDeviceIsTheStore() throws {
        try summaries([1], head: 1)
        let device = try Value(json: request().request.body)["deviceId"].string
        #expect(device == rig.store.store && device?.isEmpty == false)
        try rig.restart()
        try summaries([1], head: 1)
        #expect(try Value(json: request().request.body)["deviceId"].string == device)
    }

    @Test func aRestartBeforeTheAnswerSendsItAgain() throws {
        var backend = FakeBackend()
        try summaries([1], head: 1)
        // The request was stored, but the answer never arrived.
        _ = try backend.take(try request().request)
        try rig.restart()
        try summaries([1], head: 1)
        try accept(&backend)
        #expect(try frontier() == 1 && backend.acceptedTwice == 0)
    }

    @Test func aLostAnswerIsSentAgainAfterAWhile() throws {
        var backend = FakeBackend()
        try summaries([1], head: 1)
        let first = try request()
        _ = try backend.take(first.request)
        try rig.reply(
            first.effect,
            UploadReply.failed(HTTPError(.timedOut, endpoint: "b", detail: "no answer", hint: "wait")))
        #expect(uploads.isEmpty)
        #expect(try frontier() == 0 && detail("blocked").string?.contains("no answer") == true)
        #expect((rig.deadline ?? .distantFuture) <= rig.monotonic + .seconds(1))
        try rig.pass(.seconds(1))
        try accept(&backend)
        #expect(try frontier() == 1 && detail("blocked").isNull && backend.acceptedTwice == 0)
    }

    @Test func aBackendThatSaysWhenIsBelieved() throws {
        try summaries([1], head: 1)
        try status(503, retryAfter: "7")
        try rig.pass(.seconds(7) - .microseconds(1))
        #expect(uploads.isEmpty)
        try rig.pass(.microseconds(1))
        #expect(uploads.count == 1)
    }

    @Test func aRefusedTokenIsReadAgainThenItWaitsForAPerson() throws {
        var backend = FakeBackend()
        try summaries([1], head: 1)
        #expect(try !request().request.refreshToken)
        try status(401)
        #expect(try request().request.refreshToken)
        #expect(try detail("paused") == false)
        try status(401)
        #expect(uploads.isEmpty)
        #expect(try detail("paused") == true && detail("blocked").string?.contains("token") == true)
        // The uploader tries again automatically.
        try rig.pass(.seconds(30))
        try accept(&backend)
        #expect(try detail("paused") == false && frontier() == 1)
    }

    @Test func onePoisonElementIsPutAsideAndTheRestDelivered() throws {
        var backend = FakeBackend()
        try summaries([1, 2, 3, 4, 5, 6, 7, 8], head: 8)
        var requests = 0
        while !uploads.isEmpty, requests < 50 {
            requests += 1
            if try dates(try request().request).contains("2025-03-16") {
                try status(422)
            } else {
                try accept(&backend)
            }
        }
        #expect(requests <= 10)
        #expect(backend.alive("days").count == 7)
        #expect(try frontier() == 8 && detail("deadLetters") == 1)
        let letter = try rig.store.database.prepare("SELECT user, metric, id, version FROM dead_letters")
            .firstRow { [$0.string(0), $0.string(1), $0.string(2), "\($0.int(3))"] }
        #expect(letter == ["me", "daily", "2025-03-16", "6"])
        try rig.restart()
        #expect(try detail("deadLetters") == 1)
    }

    // MARK: Dead letters

    /// Makes the backend refuse one day for good, even when it is sent alone, and accept the rest.
    private func refuseForGood(_ day: Int64) throws {
        try summaries([day], head: day)
        for _ in 0..<2 {
            try status(422)
            #expect(try detail("deadLetters") == 0 && dates(request().request).isEmpty)
            try status(200)
        }
        #expect(try detail("deadLetters") == 1)
    }

    /// Asks for everything to be retried, and answers the one question that follows.
    private func retry(_ rows: [KeyedChangelog.Row], head sequence: Int64) throws {
        // Dead letters are redelivered only after live elements.
        try rig.hear("sync.uploader", ["head": Value(head(0)), "released": 0])
        let request = RepairRequest(id: "r\(sequence)", action: "retry")
        try rig.turn { turn in
            let state = try rig.stage.repair(request, turn)
            #expect(state == .underWay(left: 1))
        }
        try rig.turn { _ = try rig.stage.repaired(request, $0) }
        let pull = try #require(rig.pulls.first { $0.producer == "consolidator" && $0.query["until"]?.int == 6 })
        #expect(pull.integer("after") == 5)
        try rig.answer(
            pull,
            .pages([
                [
                    "rows": .array(rows.map(\.wireValue)), "through": 6,
                    "head": Value(head(sequence, store: "consolidator")),
                ]
            ]))
    }

    private static let row = KeyedChangelog.Row(
        sequence: 6, key: "day/me/2025-03-16", topic: "daily.summary", user: "me", day: 6,
        body: ["date": "2025-03-16"])

    @Test func aLetterIsSentAgainWithItsVersionAndGoesWhenItIsTaken() throws {
        var backend = FakeBackend()
        try refuseForGood(6)
        try retry([Self.row], head: 6)
        #expect(try Value(json: request().request.body)["days"].array?.first?["version"] == 6)
        try accept(&backend)
        #expect(try detail("deadLetters") == 0 && backend.alive("days").count == 1)
        try rig.restart()
        #expect(try detail("deadLetters") == 0)
    }

    @Test func aLetterThatIsRefusedAgainCountsItsTries() throws {
        try refuseForGood(6)
        rig.now += .seconds(1)
        try retry([Self.row], head: 6)
        for code in [400, 200, 400, 200] { try status(code) }
        #expect(try detail("deadLetters") == 1)
        let letter = try #require(try DeadLetter.page(in: rig.store.database, RepairSelection(), limit: 9).first)
        #expect(letter.tries == 2 && letter.status == 400 && letter.lastTried == letter.firstTried + .seconds(1))
    }

    @Test func aLetterWhoseElementHasAnotherVersionByNowIsForgotten() throws {
        try refuseForGood(6)
        try retry([], head: 9)
        try rig.turn()
        #expect(uploads.isEmpty)
        for other in ["sleep", "observer"] {
            // Events and samples of that version belong to another user.
            guard let pull = rig.pulls.first(where: { $0.producer == other && $0.query["until"]?.int == 6 }) else {
                continue
            }
            try rig.answer(pull, .pages([["rows": [], "through": 6, "head": Value(head(9, store: other))]]))
        }
        try rig.turn()
        #expect(try detail("deadLetters") == 0 && detail("droppedLetters") == 0)
    }

    @Test func aNewerVersionThatIsTakenMakesTheLetterGo() throws {
        var backend = FakeBackend()
        try refuseForGood(6)
        try rig.hear(beat("consolidator", head(8, store: "consolidator")))
        let pull = try #require(rig.pulls.first { $0.producer == "consolidator" })
        let newer = KeyedChangelog.Row(
            sequence: 8, key: "day/me/2025-03-16", topic: "daily.summary", user: "me", day: 6,
            body: ["date": "2025-03-16", "steps": 3])
        try rig.answer(
            pull,
            .pages([
                ["rows": [newer.wireValue], "through": 8, "head": Value(head(8, store: "consolidator"))]
            ]))
        try accept(&backend)
        #expect(try detail("deadLetters") == 0)
    }

    private func alert() throws -> RaisedAlert? {
        try rig.rows()[Alert.key(.deadLetters, "")]?.body?.read(RaisedAlert.self)
    }

    /// The commands name this destination, since others may have dead letters too.
    @Test(arguments: [true, false]) func lettersAreReportedUntilTheyAreSentOrDropped(isDropped: Bool) throws {
        var backend = FakeBackend()
        #expect(try alert() == nil)
        try refuseForGood(6)
        let reported = try #require(try alert())
        let commands = Advice.commands(in: reported.remedy)
        #expect(
            commands
                == ["list", "retry --all", "drop --all --yes"].map {
                    "healthbus dead-letters \($0) --destination uploader"
                })
        // The alert isn't raised again by another process, or for another letter.
        try rig.restart()
        #expect(try alert()?.since == reported.since && rig.log.fields(of: .alertRaised).count == 1)
        if isDropped {
            try rig.turn { _ = try rig.stage.repair(RepairRequest(id: "drop", action: "drop"), $0) }
        } else {
            try retry([Self.row], head: 6)
            #expect(try alert() != nil)
            try accept(&backend)
        }
        #expect(try detail("deadLetters") == 0 && alert() == nil)
    }

    /// A file from a release that raised no alert for dead letters.
    @Test func earlierLettersAreReportedToo() throws {
        try refuseForGood(6)
        try rig.turn { _ = try $0.clear(.deadLetters) }
        try rig.restart()
        #expect(try alert() != nil)
    }

    @Test func aDroppedLetterIsCounted() throws {
        try refuseForGood(6)
        let elsewhere = RepairRequest(id: "1", action: "drop", RepairSelection(type: "steps").members)
        try rig.turn { turn in
            let state = try rig.stage.repair(elsewhere, turn)
            #expect(state == .done(["dropped": 0]))
        }
        let request = RepairRequest(id: "2", action: "drop", RepairSelection(reason: "REFUSE").members)
        try rig.turn { _ = try rig.stage.repair(request, $0) }
        let all = RepairRequest(id: "3", action: "drop")
        try rig.turn { _ = try rig.stage.repair(all, $0) }
        try rig.restart()
        #expect(try detail("deadLetters") == 0 && detail("droppedLetters") == 1)
        #expect(
            try dropped() == [
                DroppedElement(number: 1, user: "me", metric: "daily", id: "2025-03-16", version: 6)
            ])
    }

    private func dropped() throws -> [DroppedElement] {
        try DroppedElement.page(in: rig.store.database, limit: 9)
    }

    /// Drops the only dead letter.
    private func drop() throws {
        try rig.turn { _ = try rig.stage.repair(RepairRequest(id: "d", action: "drop"), $0) }
        #expect(try dropped().map(\.id) == ["2025-03-16"])
    }

    /// The dropped day has a newer version.
    private func change() throws {
        try rig.hear(beat("consolidator", head(9, store: "consolidator")))
        let pull = try #require(rig.pulls.first { $0.producer == "consolidator" })
        let newer = KeyedChangelog.Row(
            sequence: 9, key: "day/me/2025-03-16", topic: "daily.summary", user: "me", day: 6,
            body: ["date": "2025-03-16", "steps": 3])
        try rig.answer(
            pull, .pages([["rows": [newer.wireValue], "through": 9, "head": Value(head(9, store: "consolidator"))]]))
    }

    @Test func aDroppedElementWhoseNewerVersionIsTakenIsForgotten() throws {
        var backend = FakeBackend()
        try refuseForGood(6)
        try drop()
        try summaries([8], head: 8)
        try accept(&backend)
        // Another element's delivery changes nothing.
        #expect(try dropped().map(\.version) == [6])
        try change()
        try accept(&backend)
        #expect(try dropped().isEmpty && detail("droppedLetters") == 1)
    }

    @Test func aDroppedElementThatIsRefusedAgainIsADeadLetterAgain() throws {
        try refuseForGood(6)
        try drop()
        try change()
        for code in [422, 200, 422, 200] { try status(code) }
        #expect(try detail("deadLetters") == 1 && dropped().isEmpty)
    }

    @Test func anotherBackendGetsEverythingAgain() throws {
        var backend = FakeBackend()
        try summaries([1, 2], head: 2)
        try accept(&backend)
        backend.replace(by: 2)
        try summaries([3], head: 3)
        try accept(&backend)
        // The backend's answer shows that it isn't the same backend as before, so everything starts again from 0.
        #expect(try frontier() == 0)
        try answerSummaries([1, 2, 3], head: 3)
        try accept(&backend)
        #expect(try frontier() == 3 && backend.alive("days").count == 3)
        // And only once.
        #expect(uploads.isEmpty)
    }

    @Test func twoRequestsAtOnceSettleInOrder() throws {
        var backend = FakeBackend()
        try summaries([1], head: 1)
        try summaries([2], head: 2)
        #expect(uploads.count == 2)
        let first = try request().effect
        let second = try #require(uploads.last)
        let reply = try backend.take(try #require(second.request as? DeliveryRequest))
        try rig.reply(second, reply)
        #expect(try frontier() == 0)
        try rig.reply(first, try backend.take(try #require(first.request as? DeliveryRequest)))
        #expect(try frontier() == 2)
    }

    @Test func tombstonesAreDelivered() throws {
        var backend = FakeBackend()
        try rig.hear(beat("sleep", head(5, store: "sleep")))
        for (sequence, body) in [(4, ["id": "n", "kind": "night", "event": ["id": "n", "main": true]]), (5, nil)]
            as [(Int64, Value?)]
        {
            let pull = try #require(rig.pulls.first { $0.producer == "sleep" })
            let row = KeyedChangelog.Row(
                sequence: SequenceNumber(sequence), key: "event/me/n", topic: "events.sleep", user: "me", day: 1,
                body: body)
            try rig.answer(
                pull,
                .pages([
                    [
                        "rows": [row.wireValue], "through": .integer(sequence),
                        "head": Value(head(5, store: "sleep")),
                    ]
                ]))
            #expect(try request().request.path == "/api/v1/sync/sleep")
            try accept(&backend)
            #expect(backend.alive("nights").count == (body == nil ? 0 : 1))
        }
        #expect(try rig.report().frontier["sleep"] == 5)
        let pages = rig.log.fields(of: .page).filter { $0["upstream"] == "sleep" }
        #expect(pages.map { [$0["added"], $0["deleted"]] } == [["1", "0"], ["0", "1"]])
    }

    @Test func withoutAPathItWaitsAndGoesOnAtOnceWhenItReturns() throws {
        let rig = try StageRig {
            DeliveryStage(
                observer: "observer", handlers: [], consolidator: "consolidator",
                policy: RetryPolicy(base: 1, cap: 8), instance: "uploader", needsPath: true,
                family: { _ in .other })
        }
        let watch = try #require(rig.effects.first { $0.request is WatchPath })
        func uploads() -> Int { rig.effects.count { $0.request is DeliveryRequest } }
        func path(_ isSatisfied: Bool) throws {
            try rig.reply(
                watch, PathNews.path(.init(isSatisfied: isSatisfied, interface: isSatisfied ? .wifi : nil)))
        }
        try path(false)
        try rig.hear(beat("consolidator", head(2, store: "consolidator")))
        let row = KeyedChangelog.Row(
            sequence: 2, key: "day/me/2025-03-11", topic: "daily.summary", user: "me", day: 1,
            body: ["date": "2025-03-11"])
        try rig.answer(
            try #require(rig.pulls.first),
            .pages([
                [
                    "rows": [row.wireValue], "through": 2, "head": Value(head(2, store: "consolidator")),
                ]
            ]))
        try rig.pass(.seconds(60))
        #expect(uploads() == 0)
        #expect(try rig.report().details["blocked"]?.string?.contains("no network path") == true)
        // The phone's network takes precedence over the machine's.
        var device = DeviceState()
        device.network = NetworkPath(isSatisfied: true, interface: .cellular)
        try rig.hear(beat("observer", head(1), details: ["device": Value(device)]))
        #expect(uploads() == 1)
        #expect(try rig.report().details["path"]?["interface"] == "cellular")
        #expect(try rig.report().details["blocked"] == .null)
        rig.effects.removeAll { $0.request is DeliveryRequest }
        try rig.hear(beat("observer", head(1)))
        try rig.pass(.seconds(1))
        #expect(uploads() == 0)
        try path(true)
        #expect(try rig.report().details["blocked"] == .null)
    }
}
