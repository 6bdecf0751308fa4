import Changelog
import HealthModel
import IngestStage
import ObserverReading
import ObserverStage
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

/// A stack that follows another one: whatever gets lost or restarts, it ends up with the same samples, and each crosses
/// the wire once.
struct FollowerTests {
    private func filled() throws -> FollowRig {
        let rig = try FollowRig()
        try rig.push((0..<25).map { IngestRig.steps($0, uuid: IngestRig.uuid($0 + 1)) })
        return rig
    }

    @Test func oneCorrectionIsAllThatIsSent() throws {
        let rig = try filled()
        try rig.catchUp()
        #expect(try rig.isSame() && FollowRig.alive(rig.here).count == 25)
        #expect(rig.carried.reduce(0, +) == 25)
        let before = rig.carried.count
        // This is how an app corrects a sample: it deletes the old one and saves a new one.
        try rig.push([IngestRig.steps(3, uuid: IngestRig.uuid(99), value: 40)], deleted: [IngestRig.uuid(4)])
        try rig.catchUp()
        #expect(try rig.isSame() && FollowRig.alive(rig.here).count == 25)
        #expect(rig.carried[before...].reduce(0, +) == 2)
        let sequence = rig.here.store.sequence
        try rig.catchUp()
        #expect(rig.here.store.sequence == sequence && rig.carried.last == 0)
    }

    @Test func aFollowerThatIsKilledGoesOnFromWhatIsStored() throws {
        let rig = try filled()
        _ = try rig.step()
        try rig.restartFollower()
        try rig.catchUp()
        #expect(rig.asked[0] == "" && rig.asked[1].hasPrefix("g1."))
        #expect(try rig.isSame())
        #expect(rig.carried.reduce(0, +) == 25)
    }

    @Test(arguments: 1...6) func anObserverThatRestartsLosesNothing(_ parts: Int) throws {
        let rig = try filled()
        rig.restartAfter = parts
        try rig.catchUp()
        #expect(try rig.isSame() && FollowRig.alive(rig.here).count == 25)
    }

    @Test func lostReceiptsAreAskedForAgain() throws {
        let rig = try filled()
        rig.losses = 5
        try rig.catchUp()
        #expect(try rig.isSame())
        #expect(rig.carried.reduce(0, +) == 25)
    }

    /// The first store was restored from an older copy, or emptied: nothing is lost here.
    @Test func anotherHistoryIsReadFromTheBeginning() throws {
        let rig = try filled()
        try rig.catchUp()
        let sequence = rig.here.store.sequence
        rig.generation = "g2"
        try rig.catchUp()
        // A 410 answer carries no changes.
        try rig.catchUp()
        #expect(rig.notices.contains(.beginsAgain))
        #expect(try rig.isSame())
        let samples = try FollowRig.alive(rig.here)
        #expect(samples.count == 25 && rig.here.store.sequence == sequence)
        try rig.restartFollower()
        try rig.catchUp()
        #expect(rig.asked.last?.hasPrefix("g2.") == true)
    }

    /// The position moves with every user's changes; committing each move would keep the disk awake.
    @Test func anotherPersonsChangesAreNoWrite() throws {
        let rig = try filled()
        rig.isAnothers = true
        try rig.catchUp()
        #expect(rig.asked.count > 2 && rig.asked.last?.hasPrefix("g1.") == true && rig.carried.reduce(0, +) == 0)
        // Only the end position is kept: there was nothing to copy.
        let sequence = rig.here.store.sequence
        func kept() throws -> String? {
            try rig.here.store.database.prepare("SELECT cursor FROM followed").firstRow { $0.string(0) }
        }
        let end = try kept()
        #expect(try end?.hasPrefix("g1.") == true && !rig.isOpen())
        try rig.push([IngestRig.steps(40)])
        try rig.catchUp()
        #expect(try kept() == end && rig.here.store.sequence == sequence)
        // The new history is read from its beginning, and all of it belongs to this person.
        rig.generation = "g2"
        rig.isAnothers = false
        try rig.restartFollower()
        try rig.catchUp()
        #expect(try rig.isSame() && FollowRig.alive(rig.here).count == 26)
    }

    /// Days for which only some types have arrived don't become final, neither after a crash nor while the first stack
    /// is away.
    @Test func untilItsEndTheFirstCopyIsAnOpenImport() throws {
        let rig = try filled()
        #expect(try rig.isOpen())
        _ = try rig.step()
        #expect(try rig.isOpen() && rig.here.report().details["copying"] == true)
        try rig.here.restart()
        try rig.restartFollower()
        rig.token = "another"
        _ = try rig.step()
        #expect(try rig.isOpen())
        rig.token = "good"
        try rig.catchUp()
        #expect(try rig.isSame() && !rig.isOpen() && rig.here.report().details["copying"] == nil)
        // Later changes are news.
        try rig.push((30..<55).map { IngestRig.steps($0) })
        _ = try rig.step()
        #expect(try !rig.isSame() && !rig.isOpen())
        try rig.here.restart()
        #expect(try !rig.isOpen())
    }

    @Test func anotherHistoryIsAnOpenImportUntilItsEnd() throws {
        let rig = try filled()
        try rig.catchUp()
        rig.generation = "g2"
        _ = try rig.step()
        #expect(rig.notices.last == .beginsAgain)
        _ = try rig.step()
        #expect(try rig.isOpen())
        try rig.here.restart()
        try rig.restartFollower()
        #expect(try rig.isOpen())
        try rig.catchUp()
        #expect(try rig.isSame() && !rig.isOpen())
    }

    /// The last page was full, so it wasn't known to be the last.
    @Test func anEndWithoutSamplesIsAnEnd() throws {
        let rig = try FollowRig()
        try rig.push((0..<10).map { IngestRig.steps($0) })
        try rig.catchUp()
        #expect(try rig.isSame() && !rig.isOpen())
    }

    /// A stack that follows no other stack has nothing to wait for.
    @Test func withoutAnotherStackNothingIsOpen() throws { #expect(try !FollowRig(follows: []).isOpen()) }

    @Test func withoutAPersonsWishNothingIsTaken() throws {
        let rig = try FollowRig(follows: [])
        try rig.push([IngestRig.steps(1)])
        #expect(try rig.step() > .seconds(0))
        #expect(try FollowRig.alive(rig.here) == [] && rig.asked == [])
        guard case .failed(let why, _) = rig.notices.last else {
            Issue.record("no notice")
            return
        }
        #expect(why.contains("followUrl"))
    }

    @Test func aRefusedTokenIsReportedAndTriedAgain() throws {
        let rig = try filled()
        rig.token = "another"
        var pauses: [Duration] = []
        for _ in 0..<8 { pauses.append(try rig.step()) }
        #expect(pauses.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(pauses.last == .seconds(60))
        guard case .failed(let why, _) = rig.notices.last else {
            Issue.record("no notice")
            return
        }
        #expect(why.contains("token new"))
        let problem = try #require(rig.standing?.problem)
        #expect(problem.isRefusal && problem.what.contains("401") && problem.remedy.contains("followTokenFile"))
        #expect(problem.since == rig.here.now && problem.nextTry == rig.here.now + .seconds(60))
        #expect(rig.standing?.lastAnswer == nil && rig.standing?.isCopying == true)
        try rig.here.pass(.seconds(30))
        rig.token = "good"
        _ = try rig.step()
        #expect(rig.notices.last == .recovered(after: .seconds(30)))
        #expect(rig.standing?.problem == nil && rig.standing?.lastAnswer == rig.here.now)
        #expect(rig.standing?.samples == 10 && rig.standing?.hasMore == true)
        try rig.catchUp()
        #expect(try rig.isSame())
        #expect(rig.standing?.samples == 25 && rig.standing?.hasMore == false && rig.standing?.isCopying == false)
        // Once all is well, the other stack may wait for news; before that, it answers at once, which shows that it is
        // there.
        _ = try rig.step()
        #expect(rig.waits.first == "0" && rig.waits.last == "25")
    }

    private func alerts(_ rig: FollowRig) throws -> [String] {
        try rig.here.rows().values.compactMap { $0.body?.read(RaisedAlert.self)?.subject }
    }

    /// The ingest keeps nothing, so the observer raises the alert, and keeps it if either restarts.
    @Test func aStackThatDoesntAnswerRaisesAnAlertUntilItDoes() throws {
        let rig = try filled()
        try rig.catchUp()
        rig.token = "another"
        for _ in 0..<15 {
            _ = try rig.step()
            try rig.here.pass(.seconds(60))
            #expect(try alerts(rig) == [])
        }
        // The first failure is reported with the second request.
        for _ in 0..<2 {
            _ = try rig.step()
            try rig.here.pass(.seconds(60))
        }
        #expect(try alerts(rig) == ["following test"])
        try rig.here.restart()
        try rig.restartFollower()
        _ = try rig.step()
        #expect(try alerts(rig) == ["following test"])
        rig.token = "good"
        _ = try rig.step()
        #expect(try alerts(rig) == [])
    }

    /// When the observer starts, it knows that the other stack isn't followed any more.
    @Test func whatIsntFollowedAnyMoreRaisesNothing() throws {
        for rest in [["test"], []] as [Set<String>] {
            var follows: Set = ["test"]
            let rig = try StageRig {
                ObserverStage(instance: "observer", zone: "Asia/Tokyo", defaultUser: "anna", follows: follows)
            }
            try rig.turn {
                try $0.raise(Alert(.degraded, subject: "following test", text: "Nothing came.", remedy: "Look."))
            }
            follows = rest
            try rig.restart()
            #expect(try rig.rows().values.count { $0.body?.read(RaisedAlert.self) != nil } == rest.count)
        }
    }

    @Test func theTimelineIsTheOtherStacks() throws {
        let rig = try filled()
        let timeline = try ZoneTimeline([
            .init(from: .distantPast, zone: "America/New_York"),
            .init(from: Instant(seconds: 1_743_000_000), zone: "Europe/Lisbon"),
        ])
        rig.zones = timeline.wireValue
        try rig.catchUp()
        let plan = try #require(try ZoneTables.plan(of: "anna", in: rig.here.store.database))
        #expect(try plan.timeline() == timeline)
    }

    /// How an observer answers a page, no matter who sent it.
    private func receipt(_ rig: FollowRig, _ page: SamplePage, _ characteristics: Value = .null) throws -> IngestReceipt
    {
        var part = IngestPart(
            id: "\(UInt64.random(in: 0 ... .max))", number: 0, user: "anna", device: "", way: "/api/v1/changes")
        part.isLast = true
        part.followed = page
        part.following = IngestPart.Following(cursor: "g1.7")
        part.following?.characteristics = characteristics
        rig.here.sent = []
        try rig.here.hear(IngestPart.topic("observer"), part.body)
        let said = try #require(rig.here.sent.first { $0.topic == IngestReceipt.topic("test") })
        return try #require(said.body.read(IngestReceipt.self))
    }

    private func page(value: Double) -> SamplePage {
        var page = SamplePage()
        page.types = ["HKQuantityTypeIdentifierStepCount"]
        page.units = ["count"]
        page.origins = [Origin(sourceName: "Watch", sourceVersion: "", productType: "", device: "")]
        page.ids = [SampleID(high: 1_743_000_000_000 << 16, low: 7)]
        page.sequence = [1]
        page.type = [0]
        page.start = [1_743_000_000_000_000]
        page.end = [1_743_000_060_000_000]
        page.value = [value]
        page.origin = [0]
        page.flags = [[]]
        page.unit = [0]
        return page
    }

    /// The observer must not end because of what another stack sends.
    @Test func aPageThatDoesntFitIsRefusedBeforeAnythingIsWritten() throws {
        let rig = try FollowRig()
        var broken = page(value: 3)
        (broken.unit, broken.units) = ([], [])
        let sequence = rig.here.store.sequence
        let said = try receipt(rig, broken, ["dateOfBirth": "1985-07-14"])
        #expect(said.refused?.contains("unit") == true && said.cursor == nil)
        #expect(rig.here.store.sequence == sequence)
        #expect(try FollowRig.alive(rig.here) == [])
        #expect(try receipt(rig, page(value: 3)).cursor == "g1.7")
        #expect(try FollowRig.alive(rig.here).count == 1)
    }

    @Test func whatDoesntCountHereIsLogged() throws {
        let rig = try FollowRig()
        #expect(try receipt(rig, page(value: -3)).cursor == "g1.7")
        #expect(rig.here.log.fields(of: .followRefused) == [["samples": "1", "quarantined": "1"]])
        #expect(try rig.here.report().details["quarantined"] == 1)
    }

    @Test func anAnswerWithoutWhatAFollowerNeedsIsNone() throws {
        func read(_ change: (inout SamplePage) -> Void) throws {
            var page = page(value: 3)
            (page.metadata, page.payload) = (TextColumn(), TextColumn())
            page.metadata.append("{\"a\":\"b\"}")
            page.payload.append("")
            change(&page)
            var answer = ChangesAnswer(user: "anna")
            answer.next = "x"
            answer.pages = [page]
            _ = try ChangesAnswer(body: answer.encoded())
        }
        try read { _ in }
        #expect(throws: PageError.self) { try read { ($0.unit, $0.units) = ([], []) } }
        for text in ["[]", "{", "no", "{}{}"] {
            var column = TextColumn()
            column.append(text)
            #expect(throws: PageError.self) { try read { $0.metadata = column } }
            #expect(throws: PageError.self) { try read { $0.payload = column } }
        }
    }

    private func members(_ rig: FollowRig) throws -> Value? {
        try rig.here.store.database.prepare("SELECT members FROM characteristics").firstRow {
            try Value(json: $0.bytes(0))
        }
    }

    /// Whatever the other stack doesn't mention stays; a type created here isn't lost.
    @Test func whatIsKnownOfThePersonIsJoined() throws {
        let rig = try FollowRig()
        let mood: Value = ["aggregation": "average", "unit": ""]
        _ = try receipt(rig, SamplePage(), ["dateOfBirth": "1985-07-14"])
        let sequence = rig.here.store.sequence
        _ = try receipt(rig, SamplePage(), ["ownTypes": ["mood": mood]])
        #expect(try members(rig) == ["dateOfBirth": "1985-07-14", "ownTypes": ["mood": mood]])
        #expect(rig.here.store.sequence == sequence.next)
        _ = try receipt(rig, SamplePage(), ["ownTypes": ["mood": mood]])
        #expect(rig.here.store.sequence == sequence.next)
    }

    private func addType(_ rig: FollowRig, _ name: String, _ unit: String) throws -> OwnAnswer {
        try own(rig.here, OwnRequest(.addType, body: ["name": .string(name), "unit": .string(unit)]))
    }

    /// What stages hear: the types created here, and those of the stack that is followed.
    @Test func typesMadeHereWinByTheirNames() throws {
        let rig = try FollowRig()
        let theirs: Value = ["aggregation": "sum", "unit": "theirs"]
        // A type that was made here before.
        #expect(try addType(rig, "mood", "ours").status == 201)
        _ = try receipt(rig, SamplePage(), ["dateOfBirth": "1985-07-14", "ownTypes": ["mood": theirs, "tea": theirs]])
        var reported: Value = .null
        let request: Value = [
            "query": "spans", "consumer": "generic", "types": ["exclude": []], "after": 0, "until": .integer(.max),
        ]
        try ObserverSource(database: rig.here.store.database).answer(request, head: rig.here.store.head) { members, _ in
            reported = members["characteristics"]?["anna"] ?? .null
        }
        #expect(reported["dateOfBirth"] == "1985-07-14")
        #expect(reported["ownTypes"]["mood"]["unit"] == "ours" && reported["ownTypes"]["tea"] == theirs)
    }

    /// Such a type couldn't be removed again: the other stack's events count as its events.
    @Test func aTypeInAnotherUnitThanThereIsRefused() throws {
        let rig = try FollowRig()
        _ = try receipt(rig, SamplePage(), ["ownTypes": ["tea": ["aggregation": "sum", "unit": "cups"]]])
        let refused = try addType(rig, "tea", "litres")
        #expect(refused.status == 409 && refused.body["code"] == "in-use", "\(refused.body.json())")
        #expect(try addType(rig, "tea", "cups").status == 201)
        #expect(try addType(rig, "mood", "points").status == 201)
    }

    @Test func aTypeOfTheOtherStackIsEnteredAndRemovedThere() throws {
        let rig = try FollowRig()
        _ = try receipt(rig, SamplePage(), ["ownTypes": ["tea": ["aggregation": "sum", "unit": "cups"]]])
        for (request, hint) in [
            (OwnRequest(.addEvent, id: "one", body: ["type": "tea", "value": 1]), "enter it there"),
            (OwnRequest(.removeType, id: "tea"), "change or remove it there"),
        ] {
            let refused = try own(rig.here, request)
            #expect(refused.status == 404 && refused.body["hint"].string == hint, "\(refused.body.json())")
            #expect(refused.body["error"] == "this type belongs to the stack that this one follows")
        }
        // A type of the same name that is made here counts here.
        #expect(try addType(rig, "tea", "cups").status == 201)
        let entered = try own(rig.here, OwnRequest(.addEvent, id: "one", body: ["type": "tea", "value": 1]))
        #expect(entered.status == 201, "\(entered.body.json())")
    }

    // MARK: Own events

    private func own(_ rig: StageRig<ObserverStage>, _ request: OwnRequest) throws -> OwnAnswer {
        var part = IngestPart(
            id: "\(UInt64.random(in: 0 ... .max))", number: 0, user: "anna", device: "phone", way: "/v1/events")
        part.isLast = true
        part.own = request
        rig.sent = []
        try rig.hear(IngestPart.topic("observer"), part.body)
        let said = try #require(rig.sent.first { $0.topic == IngestReceipt.topic("test") })
        return try #require(said.body.read(IngestReceipt.self)?.own)
    }

    private func change(
        _ rig: StageRig<ObserverStage>, _ body: Value, from version: Int64
    ) throws -> OwnAnswer {
        var request = OwnRequest(.changeEvent, id: "one", body: body)
        request.version = version
        return try own(rig, request)
    }

    private static let mass: Value = ["type": "BodyMass", "start": "2025-03-27T08:00:00Z", "value": 71, "unit": "kg"]

    /// Only the event's latest state is sent, whether or not the stack was followed in between.
    @Test(arguments: [true, false]) func anEventThatIsCorrectedTwiceIsAsItIsThere(_ isFollowed: Bool) throws {
        let rig = try FollowRig()
        let made = try own(rig.there, OwnRequest(.addEvent, id: "one", body: Self.mass))
        try #require(made.status == 201, "\(made.body.json())")
        try rig.catchUp()
        #expect(try rig.isSame() && FollowRig.alive(rig.here).count == 1)
        let changes: [Value] = [
            ["value": 72, "note": "on the old scale"], ["value": 73, "note": .null],
            ["start": "2025-03-27T07:00:00Z"], ["start": "2025-03-27T08:00:00Z", "value": 74],
        ]
        for (index, body) in changes.enumerated() {
            let changed = try change(rig.there, body, from: Int64(index + 1))
            #expect(changed.status == 200, "\(changed.body.json())")
            if isFollowed || index % 2 == 1 {
                try rig.catchUp()
                #expect(try rig.isSame() && FollowRig.alive(rig.here).count == 1)
            }
        }
        _ = try own(rig.there, OwnRequest(.removeEvent, id: "one"))
        try rig.catchUp()
        #expect(try rig.isSame() && FollowRig.alive(rig.here).isEmpty)
    }

    /// If the second stack was set up from a backup of the first, a client that read the event here earlier can't
    /// overwrite a correction made there.
    @Test func aCorrectionThereRaisesTheVersionOfAnEventHere() throws {
        let rig = try FollowRig()
        for stack in [rig.there, rig.here] { _ = try own(stack, OwnRequest(.addEvent, id: "one", body: Self.mass)) }
        func shown() throws -> Value { try own(rig.here, OwnRequest(.showEvent, id: "one")).body }
        try rig.catchUp()
        #expect(try rig.isSame() && shown()["version"] == 1)
        _ = try change(rig.there, ["value": 72], from: 1)
        _ = try change(rig.there, ["value": 73], from: 2)
        try rig.catchUp()
        #expect(try rig.isSame() && shown()["version"] == 3 && shown()["value"].double == 73)
        #expect(try change(rig.here, ["value": 80], from: 1).status == 409)
        #expect(try rig.isSame())
    }
}
