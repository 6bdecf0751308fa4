import BackendStage
import HTTP
import HealthModel
import Protocol
import TestSupport
import Testing

/// An id that arrives again in the stored version, but with different content, is both known and a conflict.
struct BackendConflictTests {
    typealias F = BackendFixture

    private static let sample = F.sample(F.id(1))

    @Test(
        arguments: Storage.all,
        [
            (#""value":5.0"#, #""value":6"#), (#""value":5.0"#, #""value":null"#),
            (#""unit":"count""#, #""unit":"km""#), ("StepCount", "FlightsClimbed"), ("Anna’s", "Ben’s"),
            ("08:15:00Z", "08:15:01Z"), ("09:00:00.5Z", "09:00:00Z"), (#"{"a":[1,null]}"#, #"{"a":[2,null]}"#),
            (#"{"a":[1,null]}"#, "null"), (#""metadata""#, #""payload":[1],"metadata""#),
        ])
    func otherContentInTheSameVersion(on storage: Storage, _ change: (from: String, to: String)) throws {
        let fixture = try F(on: storage)
        _ = try fixture.accepted("steps", F.body(samples: [Self.sample, F.sample(F.id(2))]))
        let other = Self.sample.replacing(change.from, with: change.to)
        try #require(other != Self.sample)
        let answer = try fixture.accepted("steps", F.body(samples: [other, F.sample(F.id(2)), F.sample(F.id(3))]))
        #expect(answer["conflicts"].strings == [F.id(1)])
        // A sender that doesn't support conflicts still finds every id accounted for.
        #expect(answer["known"].strings == [F.id(1), F.id(2)])
        #expect(answer["counts"] == ["created": 1, "updated": 0, "known": 2, "refused": 0])
        #expect(answer["held"] == [:])
        let held = try #require(try fixture.get("/api/v1/samples", ["user": "anna"])["samples"].array?.first)
        #expect(held["value"].double == 5 && held["metadata"] == ["a": [1, .null]])
    }

    @Test(
        arguments: Storage.all,
        [
            ("", ""), (#"{"a":[1,null]}"#, #"{ "b" : null, "a" : [ 1.0, null ] }"#), ("08:15:00Z", "08:15:00.000000Z"),
            ("2025-03-30T08:15:00Z", "2025-03-30T10:15:00+02:00"), (#""value":5.0"#, #""value":5"#),
            (#""sourceType":"healthkit","#, ""), (#"Anna’s"#, #"Anna\u2019s"#),
            (#""metadata""#, #""payload":null,"healthkitUUID":"01977f3a-5c00-8abc-9def-000000000001","metadata""#),
        ])
    func theSameContentWrittenDifferently(on storage: Storage, _ change: (from: String, to: String)) throws {
        let fixture = try F(on: storage)
        _ = try fixture.accepted("steps", F.body(samples: [Self.sample]))
        let same = change.from.isEmpty ? Self.sample : Self.sample.replacing(change.from, with: change.to)
        let answer = try fixture.accepted("steps", F.body(samples: [same]))
        #expect(answer["known"].strings == [F.id(1)] && answer["conflicts"].isNull, "\(same)")
    }

    /// The metadata of the first sample is kept in its own row, and that of the others is kept once for all of them.
    @Test(arguments: Storage.all) func metadataThatManyShare(on storage: Storage) throws {
        let fixture = try F(on: storage)
        let body = F.body(samples: (1...9).map { F.sample(F.id($0)) })
        _ = try fixture.accepted("steps", body)
        for _ in 0..<2 { #expect(try fixture.accepted("steps", body)["conflicts"].isNull) }
        let other = F.body(samples: (1...9).map { F.sample(F.id($0)).replacing("[1,null]", with: "[3]") })
        #expect(try fixture.accepted("steps", other)["conflicts"].strings == (1...9).map { F.id($0) })
    }

    @Test(arguments: Storage.all) func onlyTheSameLivingVersion(on storage: Storage) throws {
        let fixture = try F(on: storage)
        func send(_ version: Int, _ value: Double) throws -> Value {
            try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1), version: version, value: value)]))
        }
        _ = try send(2, 5)
        #expect(try send(1, 6)["conflicts"].isNull, "a late copy")
        #expect(try send(2, 6)["conflicts"].strings == [F.id(1)])
        #expect(try send(3, 6)["updated"].strings == [F.id(1)])
        #expect(try send(3, 6)["conflicts"].isNull)
        _ = try fixture.accepted("steps", F.body(deleted: [(F.id(1), 3)]))
        #expect(try send(3, 7)["conflicts"].isNull, "a deletion wins over its version")
        #expect(try fixture.accepted("steps", F.body(deleted: [(F.id(1), 3)]))["conflicts"].isNull)
        // A sample of another user with that id is a different sample.
        let other = F.body(samples: [F.sample(F.id(1), version: 3, value: 9)], user: "ben")
        #expect(try fixture.accepted("steps", other)["created"].strings == [F.id(1)])
    }

    @Test(arguments: Storage.all) func twoInOneRequest(on storage: Storage) throws {
        let fixture = try F(on: storage)
        let answer = try fixture.accepted(
            "steps", F.body(samples: [F.sample(F.id(1)), F.sample(F.id(1), value: 6), F.sample(F.id(2))]))
        #expect(answer["conflicts"].strings == [F.id(1)] && answer["known"].strings == [F.id(1)])
        #expect(answer["counts"] == ["created": 2, "updated": 0, "known": 1, "refused": 0])
    }

    @Test(arguments: Storage.all) func manualSamples(on storage: Storage) throws {
        let fixture = try F(on: storage)
        func send(_ number: Int, _ value: Double, _ version: Int = 1) throws -> Value {
            try fixture.accepted(
                "body",
                F.body(samples: [F.sample(F.id(number), version: version, value: value, sourceType: "manual")]))
        }
        _ = try send(21, 1)
        #expect(try send(21, 1)["conflicts"].isNull)
        #expect(try send(21, 2)["conflicts"].strings == [F.id(21)])
        // Under another id it is another sample for the same time, of which the first one stays.
        #expect(try send(22, 2)["conflicts"].isNull)
    }

    private static let workout =
        #"{"id":"w","version":1,"type":"running","startDate":"2025-10-11T10:00:00Z","endDate":"2025-10-11T10:30:00Z","duration":1800,"distance":null}"#

    @Test(
        arguments: Storage.all,
        [
            ("daily", "days", #"{"date":"2025-03-29","version":1,"final":true,"steps":9}"#, "2025-03-29"),
            ("workouts", "workouts", BackendConflictTests.workout, "w"),
            ("sleep", "nights", #"{"id":"n","version":1,"start":"2025-03-29T22:00:00Z","duration":8}"#, "n"),
        ])
    func documents(on storage: Storage, _ sent: (metric: String, list: String, body: String, id: String)) throws {
        let fixture = try F(on: storage)
        func send(_ element: String) throws -> Value {
            try fixture.accepted(sent.metric, #"{"userId":"anna","\#(sent.list)":[\#(element)]}"#)
        }
        #expect(try send(sent.body)["created"].strings == [sent.id])
        #expect(try send(sent.body)["conflicts"].isNull)
        // The members in another order, with spaces, and with one that isn't known here.
        let members = try #require(Value(json: sent.body.utf8).object).sorted { $0.key > $1.key }
        let written = members.map { #" "\#($0.key)" : \#($0.value.json()) "# } + [#""unknown":null"#]
        #expect(try send("{" + written.joined(separator: ",") + "}")["conflicts"].isNull)
        let answer = try send(sent.body.replacing("}", with: #","other":1}"#))
        #expect(answer["conflicts"].strings == [sent.id] && answer["known"].strings == [sent.id])
        let kept = try fixture.get("/api/v1/" + sent.list, ["user": "anna"])[sent.list].array
        #expect(kept?.first?["other"].isNull == true)
    }

    @Test(arguments: Storage.all) func inColumns(on storage: Storage) throws {
        let fixture = try F(on: storage)
        func send(_ values: [Double]) throws -> Value {
            var page = SamplePage()
            (page.types, page.origins) = (["x"], [Origin(sourceName: "s")])
            for (row, value) in values.enumerated() {
                page.ids.append(SampleID(high: 0x0195_e621_9c60_8abc, low: UInt64(9 - row)))
                page.sequence.append(1)
                page.type.append(0)
                page.origin.append(0)
                page.start.append(1_743_322_500_000_000)
                page.end.append(1_743_322_560_000_000)
                page.value.append(value)
                page.flags.append([])
            }
            var request = F.request("POST", "/api/v1/sync/other")
            request.headers["Content-Type"] = SampleDelivery.contentType
            request.body = SampleDelivery(user: "anna", device: nil, syncedAt: nil, samples: page).encoded()
            let answer = fixture.backend.handle(request)
            try #require(answer.status == 200, "\(answer.text)")
            return try Value(json: answer.body)
        }
        #expect(try send([1, 2, 3])["conflicts"].isNull)
        #expect(try send([1, 2, 3])["conflicts"].isNull)
        let answer = try send([1, 4, 3, 5])
        #expect(answer["conflicts"].strings == [SampleID(high: 0x0195_e621_9c60_8abc, low: 8).description])
        #expect(answer["counts"] == ["created": 1, "updated": 0, "known": 3, "refused": 0] && answer["known"].isNull)
    }
}
