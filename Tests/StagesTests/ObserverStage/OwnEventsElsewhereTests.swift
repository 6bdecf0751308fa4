import Changelog
import HTTP
import HealthModel
import HealthStore
import ObserverReading
import ObserverStage
import Protocol
import StageKit
import Testing

/// Events of a store that others change too, and that may refuse the events.
struct OwnEventsElsewhereTests {
    private let rig: IngestRig

    init() throws {
        rig = try IngestRig()
        let made = try rig.send("POST", "/v1/types", body: #"{"name": "coffee", "unit": "cups"}"#, token: "owner")
        try #require(made.status == 201, "\(made.text)")
    }

    private func send(
        _ method: String, _ path: String, _ body: String = "", match: String? = nil
    ) throws -> (status: Int, body: Value) {
        let headers = match.map { ["If-Match": "\"\($0)\""] } ?? [:]
        let answer = try rig.send(method, path, body: body, token: "owner", headers: headers)
        return (answer.status, try Value(json: answer.body))
    }

    private func add(_ id: String, hour: Int = 8, value: Int = 2) throws -> (status: Int, body: Value) {
        try send("POST", "/v1/events", Self.event(id, hour: hour, value: value))
    }

    private static func event(_ id: String, hour: Int, value: Int) -> String {
        #"{"id": "\#(id)", "type": "coffee", "start": "2025-03-27T0\#(hour):00:00Z", "value": \#(value)}"#
    }

    private static func uuid(_ id: String, version: Int) -> SampleID {
        SampleID(
            SampleKeyPrefix(user: "anna", type: "event", sourceName: id), startSecond: 0, endSecond: 0,
            ordinal: version)
    }

    /// What happens to a sample that is pushed with the UUID of one of an event's versions.
    private func push(
        _ id: String, version: Int = 1, hour: Int = 8, value: Int, sync: Int? = nil
    ) throws -> String? {
        let metadata = sync.map { #", "metadata": {"HKMetadataKeySyncVersion": \#($0)}"# } ?? ""
        let sample =
            #"{"uuid": "\#(Self.uuid(id, version: version))", "type": "coffee", "unit": "cups", "value": \#(value), "#
            + #""start": "2025-03-27T0\#(hour):00:00Z", "source": "elsewhere"\#(metadata)}"#
        return try rig.post([sample]).words.first ?? nil
    }

    private var store: HealthStoreReader {
        get throws { try HealthStoreReader(database: rig.observer.store.database) }
    }

    private func values() throws -> [Double] {
        let page = try store.anchored(
            TypeFilter(types: .only(["coffee"])), PullWindow(SequenceWindow(after: .beginning))
        ).samples
        return page.value.indices.filter { !page.flags[$0].contains(.deleted) }.map { page.value[$0] }
    }

    @Test func aSampleThatCameAnotherWayKeepsItsContent() throws {
        #expect(try push("one", value: 5, sync: 1) == "added")
        for value in [2, 5] {
            let refused = try add("one", value: value)
            #expect(refused.status == 409 && refused.body["code"] == "exists", "\(refused.body.json())")
        }
        #expect(try values() == [5] && store.quarantine().isEmpty)
        #expect(try send("GET", "/v1/events/one").status == 404)
        #expect(try add("two", hour: 9).status == 201)
    }

    /// Nothing is deleted for a move that the store refuses.
    @Test func anEventThatCanNotMoveStays() throws {
        _ = try add("one")
        #expect(try push("one", version: 2, hour: 7, value: 5) == "added")
        let moved = try send("PATCH", "/v1/events/one", #"{"start": "2025-03-27T09:00:00Z"}"#, match: "1")
        #expect(moved.status == 409 && moved.body["code"] == "exists", "\(moved.body.json())")
        #expect(try values().sorted() == [2, 5])
        let shown = try send("GET", "/v1/events/one").body
        #expect(shown["version"] == 1 && shown["start"] == "2025-03-27T08:00:00Z")
    }

    @Test func aUnitWithoutRoomIsRefusedAndTheIDStaysUsable() throws {
        _ = try add("one")
        let many = (0..<1000).map {
            #"{"type": "gadget", "start": \#(1_743_000_000 + $0), "value": 1, "unit": "u\#($0)"}"#
        }
        #expect(try rig.post(many).words.last == "quarantined")
        #expect(try send("POST", "/v1/types", #"{"name": "tea", "unit": "pots"}"#).status == 201)
        let before = try store.quarantineCount()
        let tea = try send("POST", "/v1/events", #"{"id": "t", "type": "tea", "value": 1}"#)
        #expect(tea.status == 409 && tea.body["code"] == "too-many", "\(tea.body.json())")
        #expect(try store.quarantineCount() == before)
        #expect(try add("t", hour: 9).status == 201)
        let other = try send("PATCH", "/v1/events/t", #"{"type": "tea"}"#, match: "1")
        #expect(other.status == 409, "\(other.body.json())")
        #expect(try values() == [2, 2] && send("GET", "/v1/events/t").body["type"] == "coffee")
    }

    @Test func anIDMakesARepeatSafeWithoutAStart() throws {
        let body = #"{"id": "now", "type": "coffee", "value": 1}"#
        let made = try send("POST", "/v1/events", body)
        #expect(made.status == 201 && made.body["start"] == "2025-03-27T10:00:00Z")
        rig.observer.now = rig.observer.now + .seconds(90)
        try rig.observer.restart()
        let again = try send("POST", "/v1/events", body)
        #expect(again.status == 200 && again.body == made.body, "\(again.body.json())")
        #expect(try send("POST", "/v1/events", body.replacing("1}", with: "2}")).status == 409)
        #expect(try values() == [1])
    }

    @Test func readingWritesNothing() throws {
        _ = try add("one")
        let before = rig.observer.commits
        rig.losses = 1
        #expect(try send("GET", "/v1/types").body["types"].array?.count == 1)
        #expect(try send("GET", "/v1/events/one").status == 200)
        #expect(try send("GET", "/v1/events/two").status == 404)
        #expect(rig.observer.commits == before)
    }

    /// A client that read an event before it changed elsewhere can't overwrite that change.
    @Test func aChangeFromElsewhereRaisesTheVersion() throws {
        _ = try add("one")
        #expect(try push("one", value: 9, sync: 1) == "quarantined")
        let entry = try #require(try store.quarantine().first)
        var request = RepairRequest(id: "settle", action: "settle")
        (request.numbers, request.keep) = ([entry.number], "other")
        try rig.observer.turn { _ = try rig.observer.stage.repair(request, $0) }
        let settled = try send("GET", "/v1/events/one").body
        #expect(settled["value"].double == 9 && settled["version"] == 2, "\(settled.json())")
        #expect(try send("PATCH", "/v1/events/one", #"{"value": 3}"#, match: "1").status == 412)
        #expect(try push("one", value: 11, sync: 7) == "changed")
        let pushed = try send("GET", "/v1/events/one").body
        #expect(pushed["value"].double == 11 && pushed["version"] == 7, "\(pushed.json())")
        #expect(try send("PATCH", "/v1/events/one", #"{"value": 3}"#, match: "2").status == 412)
        #expect(try send("PATCH", "/v1/events/one", #"{"value": 3}"#, match: "7").body["version"] == 8)
        // A version that is older now doesn't come back.
        #expect(try push("one", value: 11, sync: 7) == "known")
        #expect(try values() == [3])
    }

    /// Adding the event again later reverses the undo, even at another time; whatever was deleted for good stays
    /// deleted.
    @Test(arguments: [8, 9]) func whatWasTakenBackCanBeEnteredAgain(_ hour: Int) throws {
        _ = try add("one")
        _ = try add("two", hour: 7)
        _ = try send("DELETE", "/v1/events/two")
        var request = RepairRequest(id: "undo", action: "undo")
        (request.device, request.user) = ("phone", "anna")
        var outcome = RepairOutcome.refused("nothing")
        try rig.observer.turn { outcome = try rig.observer.stage.repair(request, $0) }
        while case .underWay = outcome {
            try rig.observer.turn { outcome = try rig.observer.stage.repaired(request, $0) }
        }
        #expect(try values().isEmpty)
        #expect(try send("GET", "/v1/events/one").status == 404)
        #expect(try send("PATCH", "/v1/events/one", #"{"value": 3}"#, match: "1").status == 404)
        #expect(try send("DELETE", "/v1/events/one").status == 404)
        let again = try add("one", hour: hour, value: 4)
        #expect(again.status == 201 && again.body["version"] == 2, "\(again.body.json())")
        #expect(again.body["start"] == .string("2025-03-27T0\(hour):00:00Z"))
        #expect(try values() == [4])
        #expect(try add("two", hour: 7).status == 410)
    }

    @Test(arguments: [Double.nan, .infinity]) func aValueIsANumber(_ value: Double) throws {
        var request = RepairRequest(id: "own", action: "own")
        request.user = "anna"
        request.own = OwnRequest(.addEvent, id: "one", body: ["type": "coffee", "value": .number(value)])
        var outcome = RepairOutcome.done([:])
        try rig.observer.turn { outcome = try rig.observer.stage.repair(request, $0) }
        guard case .refused(let why) = outcome else {
            Issue.record("it was stored")
            return
        }
        #expect(why.contains("value isn't a finite number"))
        #expect(try values().isEmpty)
    }

    /// Everybody on the bus hears what became of a command.
    @Test func theOutcomeOfACommandNamesNoTypeAndNoUnit() throws {
        func outcome(_ own: OwnRequest) throws -> RepairOutcome {
            var request = RepairRequest(id: "own", action: "own")
            (request.user, request.own) = ("anna", own)
            var outcome = RepairOutcome.done([:])
            try rig.observer.turn { outcome = try rig.observer.stage.repair(request, $0) }
            return outcome
        }
        for name in ["Coffee", "heart_rate", "HKmine"] {
            guard case .refused(let why) = try outcome(OwnRequest(.addType, body: ["name": .string(name)])) else {
                Issue.record("\(name) was added")
                continue
            }
            #expect(why.contains("choose another name") && !why.contains("my-") && !why.contains("coffee"), "\(why)")
        }
        let event: Value = ["type": "coffee", "value": 1, "unit": "mugs"]
        guard case .refused(let why) = try outcome(OwnRequest(.addEvent, id: "one", body: event)) else {
            Issue.record("it was stored")
            return
        }
        #expect(why == "the unit isn't that of the type; leave it out")
        // The names of its values would show which type it is.
        let flow: Value = ["type": "MenstrualFlow", "value": "some"]
        guard case .refused(let reason) = try outcome(OwnRequest(.addEvent, id: "two", body: flow)) else {
            Issue.record("it was stored")
            return
        }
        #expect(reason.hasSuffix("; give HealthKit's number or name"), "\(reason)")
        #expect(try outcome(OwnRequest(.addType, body: ["name": "tea"])) == .done(["version": 1]))
    }

    /// The event is found however many were added later.
    @Test func anEventIsFoundByTheStartOfItsID() throws {
        for (number, id) in ["a", "a-1", "a-2", "b"].enumerated() { _ = try add(id, hour: number + 1) }
        _ = try send("DELETE", "/v1/events/a-2")
        func found(_ id: String?) throws -> [String] {
            var events: [OwnEventRow] = []
            try ObserverSource(database: rig.observer.store.database).answer(
                Question(.entries(user: "anna", event: id)), for: "client-1", head: rig.observer.store.head
            ) { page, _ in
                if let found = page as? EntriesPage { events += found.events }
            }
            return events.map(\.id).sorted()
        }
        #expect(try found("a") == ["a", "a-1"] && found("a-") == ["a-1"] && found("b") == ["b"] && found("c") == [])
        #expect(try found(nil) == ["a", "a-1", "b"])
    }

    @Test func aHintNamesThePerson() throws {
        let hint = try send("GET", "/v1/events/none").body["hint"].string
        #expect(hint?.contains("'healthbus events list --user anna'") == true, "\(hint ?? "")")
    }
}
