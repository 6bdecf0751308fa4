import Changelog
import HTTP
import HealthModel
import HealthStore
import IngestStage
import ObserverReading
import ObserverStage
import Protocol
import StageKit
import Testing

/// What a person enters over HTTP, from the request to the store.
struct OwnEventsTests {
    private let rig: IngestRig

    init() throws {
        rig = try IngestRig()
        let made = try rig.send("POST", "/v1/types", body: #"{"name": "coffee", "unit": "cups"}"#, token: "owner")
        try #require(made.status == 201, "\(made.text)")
    }

    private func send(
        _ method: String, _ path: String, _ body: String = "", headers: [String: String] = [:]
    ) throws -> (status: Int, body: Value, headers: HTTPHeaders) {
        let answer = try rig.send(method, path, body: body, token: "owner", headers: headers)
        return (answer.status, try Value(json: answer.body), answer.headers)
    }

    private func samples() throws -> (alive: [Double], deleted: Int, ids: Set<SampleID>) {
        let page = try HealthStoreReader(database: rig.observer.store.database).anchored(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: .beginning))
        ).samples
        let alive = page.value.indices.filter { !page.flags[$0].contains(.deleted) }
        #expect(alive.allSatisfy { page.flags[$0].contains(.manual) })
        return (alive.map { page.value[$0] }, page.count - alive.count, Set(alive.map { page.ids[$0] }))
    }

    private static let coffee = #"{"id": "one", "type": "coffee", "start": "2025-03-27T08:00:00Z", "value": 2}"#

    @Test func anEventIsOneManualSampleHoweverOftenItIsSent() throws {
        let made = try send("POST", "/v1/events", Self.coffee)
        #expect(made.status == 201 && made.body["version"] == 1 && made.body["unit"] == "cups", "\(made.body.json())")
        #expect(made.headers["ETag"] == "\"1\"")
        #expect(try send("POST", "/v1/events", Self.coffee).status == 200)
        #expect(try samples().alive == [2])
        let other = try send("POST", "/v1/events", Self.coffee.replacing("2}", with: "3}"))
        #expect(other.status == 409 && other.body["code"] == "version" && other.body["version"] == 1)
        // To a backend, a second event at the same instant would be the same event.
        let second = try send("POST", "/v1/events", Self.coffee.replacing("one", with: "two"))
        #expect(second.status == 409 && second.body["code"] == "exists" && second.body["id"] == "one")
        #expect(try samples().alive == [2])
        let shown = try send("GET", "/v1/events/one")
        #expect(shown.status == 200 && shown.body["value"].double == 2 && shown.body["start"] == "2025-03-27T08:00:00Z")
    }

    @Test func aChangeIsAnotherVersionAndAnotherTimeAnotherSample() throws {
        _ = try send("POST", "/v1/events", Self.coffee)
        let before = try samples().ids
        let first = ["If-Match": "\"1\""]
        let changed = try send("PATCH", "/v1/events/one", #"{"value": 3, "note": "late"}"#, headers: first)
        #expect(changed.status == 200 && changed.body["version"] == 2 && changed.body["note"] == "late")
        #expect(try samples().alive == [3] && samples().deleted == 0 && samples().ids == before)
        // The request is sent twice, but carried out once.
        let again = try send("PATCH", "/v1/events/one", #"{"value": 3, "note": "late"}"#, headers: first)
        #expect(again.status == 200 && again.body["version"] == 2)
        let late = try send("PATCH", "/v1/events/one", #"{"value": 9}"#, headers: first)
        #expect(late.status == 412 && late.body["version"] == 2 && late.headers["ETag"] == "\"2\"")
        #expect(try send("PATCH", "/v1/events/one", #"{"value": 9, "version": 1}"#).status == 409)
        #expect(try send("PATCH", "/v1/events/one", #"{"value": 9}"#).status == 428)
        #expect(try send("PATCH", "/v1/events/one", #"{"vale": 9, "version": 2}"#).status == 422)
        #expect(try samples().alive == [3])
        let move = #"{"start": "2025-03-27T09:00:00Z", "note": null, "version": 2}"#
        let moved = try send("PATCH", "/v1/events/one", move)
        #expect(moved.status == 200 && moved.body["version"] == 3 && moved.body["note"].isNull, "\(moved.body.json())")
        #expect(moved.body["end"] == "2025-03-27T09:00:00Z")
        let after = try samples()
        #expect(after.alive == [3] && after.deleted == 1 && after.ids.isDisjoint(with: before))
        try rig.observer.restart()
        #expect(try send("GET", "/v1/events/one").body["version"] == 3)
    }

    @Test func whatIsRemovedIsATombstoneAndStaysOut() throws {
        _ = try send("POST", "/v1/events", Self.coffee)
        #expect(try send("DELETE", "/v1/types/coffee").body["code"] == "in-use")
        #expect(try send("DELETE", "/v1/events/one", headers: ["If-Match": "7"]).status == 412)
        let gone = try send("DELETE", "/v1/events/one", headers: ["If-Match": "1"])
        #expect(gone.status == 200 && gone.body["deleted"] == true && gone.body["version"] == 2)
        #expect(try send("DELETE", "/v1/events/one").status == 200)
        let left = try samples()
        #expect(left.alive.isEmpty && left.deleted == 1)
        #expect(try send("POST", "/v1/events", Self.coffee).status == 410)
        #expect(try send("GET", "/v1/events/one").status == 410)
        #expect(try send("PATCH", "/v1/events/one", #"{"value": 1, "version": 2}"#).status == 410)
        // Under a different id it is a different event.
        #expect(try send("POST", "/v1/events", Self.coffee.replacing("one", with: "two")).status == 201)
        #expect(try samples().alive == [2])
    }

    @Test func healthKitsTypesCanBeEnteredByHandInAnyOfTheirUnits() throws {
        let body = #"{"type": "BodyMass", "start": "2025-03-27T07:00:00Z", "value": 150, "unit": "lb"}"#
        let made = try send("POST", "/v1/events", body)
        #expect(made.status == 201 && made.body["type"] == "HKQuantityTypeIdentifierBodyMass", "\(made.body.json())")
        #expect(made.body["unit"] == "kg" && abs((made.body["value"].double ?? 0) - 68.04) < 0.01)
        for (body, status) in [
            (#"{"type": "BodyMass", "value": 150, "unit": "km"}"#, 422), (#"{"type": "Nonsense", "value": 1}"#, 422),
            (#"{"type": "BodyMass", "value": 99999}"#, 422), (#"{"type": "BodyMass"}"#, 422),
            (#"{"type": "coffee", "value": "two"}"#, 422), (#"{"type": "coffee", "value": 1, "unit": "l"}"#, 422),
            (#"{"type": "coffee", "value": 1, "start": "soon"}"#, 422),
            (#"{"id": "a/b", "type": "coffee", "value": 1}"#, 422),
            (#"{"id": "..", "type": "coffee", "value": 1}"#, 422), ("[]", 422),
        ] { #expect(try send("POST", "/v1/events", body).status == status, "\(body)") }
        #expect(try rig.alive() == 1)
    }

    @Test func aCategorysValueMayBeItsNumberOrItsName() throws {
        for (hour, value) in ["3", "\"moderate\"", "\"HKCategoryValueSeverityModerate\""].enumerated() {
            let body = #"{"type": "Headache", "start": "2025-03-27T0\#(hour):00:00Z", "value": \#(value)}"#
            let made = try send("POST", "/v1/events", body)
            #expect(made.status == 201 && made.body["value"].double == 3, "\(body): \(made.body.json())")
        }
        for value in ["\"mod\"", "2.5", "true", "null"] {
            let refused = try send("POST", "/v1/events", #"{"type": "Headache", "value": \#(value)}"#)
            #expect(refused.status == 422, "\(value)")
            #expect(
                refused.body["hint"]
                    == "give a number or a name: 0 Unspecified, 1 NotPresent, 2 Mild, 3 Moderate, 4 Severe",
                "\(refused.body.json())")
        }
        let food = try send("POST", "/v1/events", #"{"type": "Food", "value": 1}"#)
        #expect(food.status == 422 && food.body["error"].string?.contains("can't be entered") == true)
    }

    @Test func typesAreMadeChangedAndRemoved() throws {
        let same = try send("POST", "/v1/types", #"{"name": "coffee", "unit": "cups"}"#)
        #expect(same.status == 200 && same.body["aggregation"] == "sum" && same.body["version"] == 1)
        #expect(try send("POST", "/v1/types", #"{"name": "coffee", "unit": "mugs"}"#).status == 409)
        let mood = try send("POST", "/v1/types", #"{"name": "mood", "kind": "category"}"#)
        #expect(mood.status == 201 && mood.body["aggregation"] == "count")
        for body in [
            #"{"name": "StepCount"}"#, #"{"name": "HKmine"}"#, #"{"name": "a b"}"#, #"{"unit": "cups"}"#,
            #"{"name": "x", "aggregation": "median"}"#, #"{"name": "x", "kind": "category", "aggregation": "sum"}"#,
            #"{"name": "x", "colour": "red"}"#,
        ] { #expect(try send("POST", "/v1/types", body).status == 422, "\(body)") }
        _ = try send("POST", "/v1/events", Self.coffee)
        #expect(try send("PATCH", "/v1/types/coffee", #"{"unit": "mugs", "version": 1}"#).body["code"] == "in-use")
        let changed = try send("PATCH", "/v1/types/coffee", #"{"aggregation": "latest", "version": 1}"#)
        #expect(changed.status == 200 && changed.body["version"] == 2)
        #expect(try send("PATCH", "/v1/types/coffee", #"{"aggregation": "sum", "version": 1}"#).status == 409)
        #expect(try send("DELETE", "/v1/types/mood").status == 200)
        let list = try send("GET", "/v1/types").body["types"].array ?? []
        #expect(list.map { $0["name"] } == ["coffee"] && list.first?["aggregation"] == "latest")
        #expect(try send("DELETE", "/v1/types/tea").status == 404)
    }

    /// On the command line such a name would mean something else.
    @Test(arguments: [
        ("headache", "'healthbus events add Headache VALUE "), ("Nausea", "my-nausea"), ("STEPCOUNT", "StepCount"),
        ("steps", "my-steps"), ("weight", "BodyMass"), ("heart_rate", "my-heart_rate"), ("food", "my-food"),
        ("workout", "my-workout"), ("hkquantitytypeidentifierstepcount", "StepCount"), ("Coffee", "use coffee"),
    ])
    func aNameThatIsTakenIsRefusedInAnyCase(_ name: String, _ hint: String) throws {
        let refused = try send("POST", "/v1/types", #"{"name": "\#(name)"}"#)
        #expect(refused.status == 422 && refused.body["code"] == "malformed", "\(refused.body.json())")
        #expect(refused.body["hint"].string?.contains(hint) == true, "\(refused.body.json())")
        #expect(try send("GET", "/v1/types").body["types"].array?.count == 1)
    }

    /// The name that the error suggests works, and its hint about values is correct.
    @Test func aCategoryNeedsNoValueAndAQuantityOne() throws {
        #expect(try send("POST", "/v1/types", #"{"name": "my-headache", "kind": "category"}"#).status == 201)
        let made = try send("POST", "/v1/events", #"{"type": "my-headache", "start": "2025-03-27T08:00:00Z"}"#)
        #expect(made.status == 201 && made.body["value"].isNull, "\(made.body.json())")
        for (body, error) in [
            (#"{"type": "my-headache", "value": 2}"#, "an event of a category has no value"),
            (#"{"type": "my-headache", "value": "bad"}"#, "an event of a category has no value"),
            (#"{"type": "coffee"}"#, "the value is missing"),
            (#"{"type": "coffee", "value": "two"}"#, "the value isn't a number"),
        ] {
            let refused = try send("POST", "/v1/events", body)
            #expect(refused.status == 422 && refused.body["error"].string == error, "\(body): \(refused.body.json())")
        }
    }

    /// A phone's token reveals nothing, and after a lost answer nothing is entered twice.
    @Test func whoMayReadAndWhatGetsLost() throws {
        _ = try send("POST", "/v1/events", Self.coffee)
        #expect(try rig.send("GET", "/v1/events/one", token: "good").status == 403)
        #expect(try rig.send("GET", "/v1/types", token: "good").status == 403)
        // A change that changes nothing reveals nothing either.
        let whatever = ["If-Match": "*"]
        let changed = try rig.send("PATCH", "/v1/events/one", body: "{}", token: "good", headers: whatever)
        #expect(try changed.status == 200 && Value(json: changed.body) == ["id": "one", "version": 1])
        #expect(try rig.send("POST", "/v1/events", body: Self.coffee, token: "reads").status == 403)
        #expect(try rig.send("PUT", "/v1/events/one", token: "owner").headers["Allow"] == "GET, PATCH, DELETE")
        #expect(try rig.send("GET", "/v1/events/none", token: "owner").status == 404)
        rig.losses = 2
        let made = try send("POST", "/v1/events", #"{"type": "coffee", "value": 1}"#)
        #expect(made.status == 201 && made.body["start"] == "2025-03-27T10:00:00Z")
        #expect(try rig.alive() == 2)
        rig.isObserverThere = false
        #expect(try send("DELETE", "/v1/events/one").status == 503)
    }

    /// The person decides which content counts; the other is refused from then on.
    @Test(arguments: [("other", 40.0), ("stored", 12.0)])
    func aConflictIsResolvedAsANewVersion(_ keep: String, _ value: Double) throws {
        let uuid = IngestRig.uuid(1)
        _ = try rig.post([IngestRig.steps(1, uuid: uuid)])
        #expect(try rig.post([IngestRig.steps(1, uuid: uuid, value: 40)]).words == ["quarantined"])
        let store = try HealthStoreReader(database: rig.observer.store.database)
        let entry = try #require(try store.quarantine().first)
        let before = try store.head()
        let result: Value = [
            "id": .integer(entry.number), "kept": .string(keep), "type": "HKQuantityTypeIdentifierStepCount",
        ]
        #expect(try settle(entry.number, keep) == .done(result))
        #expect(try changed(after: before) == [value])
        #expect(try store.quarantine().isEmpty)
        // If either content arrives again, the decision stands.
        _ = try rig.post([IngestRig.steps(1, uuid: uuid)])
        _ = try rig.post([IngestRig.steps(1, uuid: uuid, value: 40)])
        #expect(try store.quarantine().isEmpty && rig.alive() == 1)
        guard case .refused = try settle(entry.number, keep) else {
            Issue.record("a conflict that is settled was settled again")
            return
        }
    }

    /// A higher sync version replaces the sample but doesn't resolve the conflict: the content shown as kept is the
    /// content that is stored now.
    @Test func anOpenConflictIsShownBesideWhatIsStoredNow() throws {
        let uuid = IngestRig.uuid(1)
        func shown() throws -> [RecordConflict] {
            let store = try HealthStoreReader(database: rig.observer.store.database)
            var rows: [QuarantinedRow] = []
            for entry in try store.quarantine() {
                try ObserverSource(database: rig.observer.store.database).answer(
                    Question(.quarantined(RepairSelection(numbers: [entry.number]), record: true)), for: nil,
                    head: rig.observer.store.head
                ) { page, _ in rows += (page as? QuarantinedPage)?.entries ?? [] }
            }
            return rows.compactMap { row in
                guard case .input(let raw)? = row.record else { return nil }
                return RecordConflict(json: raw)
            }
        }
        func push(_ value: Double, version: Int) throws {
            let more = ", \"metadata\": {\"HKMetadataKeySyncVersion\": \(version)}"
            _ = try rig.post([IngestRig.steps(1, uuid: uuid, value: value, more: more)])
        }
        try push(80, version: 1)
        try push(81, version: 1)
        #expect(try shown().map(\.kept?.value) == [80] && shown().map(\.other.value) == [81])
        try push(82, version: 2)
        #expect(try shown().map(\.kept?.value) == [82] && shown().map(\.other.value) == [81])
        #expect(try shown().allSatisfy(\.isOpen))
        try push(81, version: 3)
        #expect(try shown().contains { $0.isOpen } == false)
        _ = try rig.post([], deleted: [uuid])
        #expect(try shown().count == 1)
    }

    /// Content that lost once stays out, whatever has become of the sample; open conflicts show the sample's current
    /// content.
    @Test func twoConflictsAreResolvedOneAfterTheOther() throws {
        let uuid = IngestRig.uuid(1)
        func push(_ value: Double) throws { _ = try rig.post([IngestRig.steps(1, uuid: uuid, value: value)]) }
        for value in [12.0, 40, 50] { try push(value) }
        let store = try HealthStoreReader(database: rig.observer.store.database)
        let entries = try store.quarantine()
        try #require(entries.count == 2)
        guard case .done = try settle(entries[0].number, "other") else {
            Issue.record("the first wasn't settled")
            return
        }
        let left = try store.quarantine().compactMap { RecordConflict(json: $0.raw) }
        #expect(left.map(\.other.value) == [50] && left.map(\.kept?.value) == [40])
        guard case .done = try settle(entries[1].number, "other") else {
            Issue.record("the second wasn't settled")
            return
        }
        for value in [12.0, 40, 50] { try push(value) }
        #expect(try store.quarantine().isEmpty && rig.alive() == 1)
        // A third version with different content is a conflict like any other.
        try push(60)
        #expect(try store.quarantine().count == 1)
    }

    /// The other content has a different time, so it becomes another row, and the UUID moves to it.
    @Test func theOtherContentMayBeElsewhere() throws {
        let uuid = IngestRig.uuid(1)
        _ = try rig.post([IngestRig.steps(1, uuid: uuid)])
        _ = try rig.post([IngestRig.steps(9, uuid: uuid, value: 7)])
        let store = try HealthStoreReader(database: rig.observer.store.database)
        let entry = try #require(try store.quarantine().first)
        guard case .done = try settle(entry.number, "other") else {
            Issue.record("it wasn't settled")
            return
        }
        #expect(try rig.alive() == 1 && store.quarantine().isEmpty)
        #expect(try rig.post([], deleted: [uuid]).words == ["deleted"])
        #expect(try rig.alive() == 0)
    }

    private func settle(_ number: Int64, _ keep: String) throws -> RepairOutcome {
        var request = RepairRequest(id: "settle-\(number)", action: "settle")
        (request.numbers, request.keep) = ([number], keep)
        var outcome = RepairOutcome.refused("nothing")
        try rig.observer.turn { outcome = try rig.observer.stage.repair(request, $0) }
        return outcome
    }

    /// The values of what has changed, without tombstones.
    private func changed(after sequence: SequenceNumber) throws -> [Double] {
        let page = try HealthStoreReader(database: rig.observer.store.database).anchored(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: sequence))
        ).samples
        return page.value.indices.filter { !page.flags[$0].contains(.deleted) }.map { page.value[$0] }
    }
}
