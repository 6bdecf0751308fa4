import BackendStage
import DeliveryKit
import Foundation
import HTTP
import HealthModel
import Protocol
import TestSupport
import Testing
import UploaderReading

/// Tests samples sent in columns instead of JSON.
struct BackendColumnsTests {
    typealias F = BackendFixture

    private static let types = ["HKQuantityTypeIdentifierStepCount", "HKCategoryTypeIdentifierMindfulSession", "x"]
    private static let metadata = [
        "", "{}", "{\"HKWasUserEntered\":\"1\"}", "{\"HKMetadataKeyHeartRateMotionContext\":\"1\"}",
        " { \"a\" : [1, null] } ", "{\"ä\":\"€\"}",
    ]
    private static let payloads = ["", "null", "[1,2.5]", "\"text\"", "{\"beats\":[]}", " 7 "]

    /// Rows with only a few different ids, times and strings, so that they collide in every way.
    private static func page(
        rows: Int, manual: Bool, bad: Bool, using generator: inout SplitMix
    ) -> SamplesPage {
        func pick<Element>(_ elements: [Element], _ fallback: Element) -> Element {
            elements.randomElement(using: &generator) ?? fallback
        }
        var page = SamplePage()
        page.types = types + [String(repeating: "t", count: 201), ""]
        page.units = ["count", "", "min"]
        page.origins = [Origin(sourceName: "Anna’s \"Watch\"", device: "secret"), Origin(sourceName: "")]
        var users: [Int32] = []
        let isFull = Bool.random(using: &generator)
        for _ in 0..<rows {
            let second = 1_743_322_500 + Int64.random(in: 0..<5, using: &generator) * 60
            let own = SampleID(
                SampleKeyPrefix(user: "u", type: "t", sourceName: "s"), startSecond: second, endSecond: second,
                ordinal: Int.random(in: 0..<4, using: &generator))
            let foreign = SampleID(high: .random(in: .min ... .max, using: &generator) << 62 | 5, low: 9)
            page.ids.append(pick([own, own, foreign], own))
            page.sequence.append(.random(in: 1..<12, using: &generator))
            page.type.append(
                bad && .random(in: 0..<9, using: &generator) == 0
                    ? Int32.random(in: 3...4, using: &generator) : .random(in: 0...2, using: &generator))
            page.origin.append(.random(in: 0...1, using: &generator))
            let start = second * 1_000_000 + pick([0, 0, 1, 999_999, -1], 0)
            let length = pick([0, 60_000_000, 1, 2_500_000, 86_400_000_000, 3_000_000_000_000_000], 0)
            page.start.append(start)
            page.end.append(bad && .random(in: 0..<9, using: &generator) == 0 ? start - 1 : start + Int64(length))
            page.value.append(pick([0, -0.0, 1, 61.5, .nan, .infinity, 1e300, 0.1, -7], 0))
            let manual: SampleFlags = manual && .random(in: 0..<2, using: &generator) == 0 ? .manual : .userEntered
            page.flags.append(
                .random(in: 0..<6, using: &generator) == 0
                    ? pick([.deleted, .deleted, .quarantined], .deleted) : manual)
            users.append(.random(in: 0...1, using: &generator))
            guard isFull else { continue }
            page.unit.append(.random(in: 0...2, using: &generator))
            page.created.append(0)
            page.metadata.append(
                bad && .random(in: 0..<9, using: &generator) == 0 ? "[\"no object\"]" : pick(metadata, ""))
            page.payload.append(pick(payloads, ""))
            page.healthKitUUID.append(pick([nil, SampleID(high: 3, low: 4), SampleID(high: 5, low: 6)], nil))
        }
        return SamplesPage(samples: page, users: ["anna", "ben"], user: users)
    }

    private static func request(_ body: [UInt8], isColumns: Bool = true, metric: String = "other") -> HTTPRequest {
        var request = F.request("POST", "/api/v1/sync/" + metric)
        request.headers["Content-Type"] = isColumns ? SampleDelivery.contentType : "application/json"
        request.body = body
        return request
    }

    /// Everything that queries report, except the generation.
    private static func content(_ backend: Backend) throws -> Value {
        var found: [String: Value] = [:]
        for (name, path, query) in [
            ("stats", "stats", [:]), ("counted", "stats", ["count": "rows"]),
            ("samples anna", "samples", ["user": "anna"]), ("samples ben", "samples", ["user": "ben"]),
            ("range", "samples", ["user": "anna", "from": "2025-03-30T08:16:00Z", "type": types[0]]),
            ("versions", "versions", ["user": "anna", "list": "samples", "contents": "2"]),
            ("versions ben", "versions", ["user": "ben", "list": "samples", "contents": "2"]),
        ] {
            var request = F.request("GET", "/api/v1/" + path)
            request.query = query
            let answer = backend.handle(request)
            try #require(answer.status == 200, "\(answer.text)")
            var members = try #require(try Value(json: answer.body).object)
            members["generation"] = nil
            found[name] = .object(members)
        }
        return .object(found)
    }

    private static func places(_ answer: Value) -> Set<String> {
        Set(
            (answer["refused"].array ?? []).map {
                "\($0["list"].string ?? "") \($0["index"].int ?? -1) \($0["id"].string ?? "")"
            })
    }

    @Test(arguments: 0..<40) func bothFormsLeaveTheSame(_ seed: Int) throws {
        var generator = SplitMix(seed: UInt64(seed))
        let (json, columns) = (try F(), try F())
        var (refused, conflicts) = (0, 0)
        for round in 0..<6 {
            // A JSON body with a malformed member is refused as a whole, so it can't be used for this test.
            let page = Self.page(
                rows: .random(in: 2...40, using: &generator), manual: seed % 2 == 0, bad: seed % 3 == 0,
                using: &generator)
            for group in try DeliveryGroup.groups(samples: [page], from: "observer", family: { _ in .other }) {
                let all = try #require(group.batch.next)
                let first = json.backend.handle(
                    Self.request(group.encode(all, deviceId: "phone", syncedAt: 5), isColumns: false))
                guard let body = group.columns(all, deviceId: "phone", syncedAt: 5) else {
                    // A single element is sent as JSON.
                    #expect(all.count == 1)
                    _ = columns.backend.handle(
                        Self.request(group.encode(all, deviceId: "phone", syncedAt: 5), isColumns: false))
                    continue
                }
                let second = columns.backend.handle(Self.request(body))
                try #require(first.status == second.status, "\(round): \(first.text) \(second.text)")
                let (one, other) = (try Value(json: first.body), try Value(json: second.body))
                #expect(one["counts"] == other["counts"] && one["sequence"] == other["sequence"])
                #expect(Self.places(one) == Self.places(other))
                #expect(one["conflicts"].strings.sorted() == other["conflicts"].strings.sorted())
                conflicts += one["conflicts"].strings.count
                refused += Self.places(one).count
            }
            #expect(try Self.content(json.backend) == Self.content(columns.backend), "\(round)")
        }
        #expect(refused > 0 || seed % 3 != 0)
        // Manual samples of one moment count as one sample, so fewer of them can conflict.
        #expect(conflicts > 0 || seed % 2 == 0)
    }

    // MARK: Hostile bodies

    private static func good() throws -> (SampleDelivery, Value) {
        var generator = SplitMix(seed: 4)
        var page = page(rows: 12, manual: false, bad: false, using: &generator).samples
        page.flags = page.flags.map { _ in [] }
        let delivery = SampleDelivery(
            user: "anna", device: "phone", syncedAt: 5, samples: page, deleted: [SampleID(high: 1, low: 1)],
            deletedVersions: [3])
        return (delivery, try CBORDecoder.decode(delivery.encoded()))
    }

    private static func changed(_ value: Value, _ path: [String], to new: Value) -> Value {
        guard let name = path.first else { return new }
        var members = value.object ?? [:]
        members[name] = changed(value[name], Array(path.dropFirst()), to: new)
        return .object(members)
    }

    @Test func whatDoesNotFitTogetherIsRefusedAsAWhole() throws {
        let fixture = try F()
        let (_, good) = try Self.good()
        for (path, new) in [
            (["samples", "seq"], Value.column(.int64([1]))), (["samples", "seq"], .column(.int32([1]))),
            (["samples", "id"], .bytes([1])), (["samples", "id"], .string("x")),
            (["samples", "type"], .column(.int32(Array(repeating: 5, count: 12)))),
            (["samples", "type"], .column(.int32(Array(repeating: -1, count: 12)))),
            (["samples", "origin"], .column(.int32(Array(repeating: .max, count: 12)))),
            (["samples", "unit"], .column(.int32(Array(repeating: .min, count: 12)))), (["samples", "types"], 3),
            (["samples", "origins"], [["a"]]),
            (["samples", "metadata"], ["bytes": .bytes([1]), "ends": .column(.int32([2]))]),
            (["samples", "metadata"], ["bytes": .bytes([1]), "ends": .column(.int32([1, 0]))]),
            (["samples", "payload"], ["bytes": .bytes([1]), "ends": .column(.int32([-1]))]),
            (["samples", "uuid"], .bytes(Array(repeating: 1, count: 16))), (["samples"], "x"),
            (["samples", "end"], .null),
            (["deleted"], ["id": .bytes(Array(repeating: 1, count: 32)), "seq": .column(.int64([1]))]),
            (["deleted"], 7),
            (["userId"], 7), (["userId"], ""), (["userId"], .string(String(repeating: "u", count: 201))),
            (["deviceId"], .bytes([])),
            (["deviceId"], .string(String(repeating: "d", count: 1001))), (["syncedAt"], "now"),
            (["syncedAt"], .integer(.max)), ([], 3), ([], [:]),
            ([], ["userId": "anna"]),
        ] as [([String], Value)] {
            let body = CBOREncoder.encode(Self.changed(good, path, to: new))
            let answer = fixture.backend.handle(Self.request(body))
            #expect(answer.status == 400 && answer.text.contains("error"), "\(path) \(new): \(answer.text)")
        }
        #expect(try fixture.stats()["sequence"] == 0)
        let many = Self.changed(good, ["samples", "types"], to: .array(Array(repeating: "x", count: 200_000)))
        #expect(fixture.backend.handle(Self.request(CBOREncoder.encode(many))).status == 400)
        var long = SamplePage()
        for row in 0...SampleDelivery.elementLimit { long.append(SampleID(high: 0, low: UInt64(row))) }
        let tooMany = SampleDelivery(user: nil, device: nil, syncedAt: nil, samples: long)
        #expect(fixture.backend.handle(Self.request(tooMany.encoded())).status == 413)
        #expect(fixture.backend.handle(Self.request(CBOREncoder.encode(good), metric: "workouts")).status == 415)
        #expect(fixture.backend.handle(Self.request(CBOREncoder.encode(good), metric: "daily")).status == 415)
        #expect(try fixture.stats()["sequence"] == 0)
        #expect(fixture.backend.handle(Self.request(CBOREncoder.encode(good), metric: "sleep")).status == 200)
    }

    @Test func noBytesBreakIt() throws {
        let fixture = try F(audit: false)
        let (_, value) = try Self.good()
        let good = CBOREncoder.encode(value)
        for length in 0..<good.count {
            #expect(fixture.backend.handle(Self.request(Array(good[..<length]))).status == 400)
        }
        var generator = SplitMix(seed: 9)
        for _ in 0..<4000 {
            var body = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                body[.random(in: 0..<body.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            let answer = fixture.backend.handle(Self.request(body))
            #expect([200, 400, 413, 422].contains(answer.status), "\(answer.status) \(answer.text)")
            #expect(throws: Never.self) { try Value(json: answer.body) }
        }
        // Everything accepted is reported in JSON, and counted correctly.
        #expect(try Self.content(fixture.backend)["counted"]["counters"]["lost"] == 0)
    }

    @Test func badRowsAreNamedAndTheOthersKept() throws {
        let fixture = try F()
        var page = SamplePage()
        for row in 0..<10 { page.append(SampleID(high: UInt64(row), low: 1)) }
        page.start[1] = .min
        page.end[2] = .max
        (page.start[3], page.end[3]) = (5, 4)
        page.flags[4] = .deleted
        page.types.append("")
        page.type[5] = 1
        page.value[6] = .nan
        page.ids[8] = page.ids[7]
        page.sequence[8] = 0
        page.metadata.pad(to: 9)
        page.metadata.append(bytes: [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D])
        let body = SampleDelivery(user: "anna", device: nil, syncedAt: nil, samples: page).encoded()
        let answer = fixture.backend.handle(Self.request(body))
        let said = try Value(json: answer.body)
        #expect(answer.status == 200 && said["counts"] == ["created": 3, "updated": 0, "known": 1, "refused": 6])
        #expect(said["refused"].array?.map { $0["index"] } == [1, 2, 3, 4, 5, 9])
        #expect(said["refused"].array?.first?["id"].string == page.ids[1].description)
        #expect(said["created"].isNull && said["held"].isNull)
        let kept = try fixture.get("/api/v1/samples", ["user": "anna"])["samples"].array ?? []
        #expect(kept.count == 3 && kept[1]["value"].isNull)
        // If all of them are refused, the answer has its usual form.
        page.type = page.type.map { _ in 1 }
        let none = fixture.backend.handle(
            Self.request(SampleDelivery(user: "anna", device: nil, syncedAt: nil, samples: page).encoded()))
        #expect(try none.status == 422 && Value(json: none.body)["counts"]["refused"] == 10)
    }

    @Test func itIsAnnounced() throws {
        let accepts = try F().stats()["accepts"].strings
        #expect(accepts == ["application/json", SampleDelivery.contentType])
        #expect(SampleDelivery.isNamed(by: "Application/Vnd.Healthbus.Columns+CBOR ; v=1"))
        #expect(!SampleDelivery.isNamed(by: "application/cbor") && !SampleDelivery.isNamed(by: nil))
    }
}

extension SamplePage {
    /// A sample that lasts a second.
    fileprivate mutating func append(_ id: SampleID) {
        if types.isEmpty { (types, origins) = (["x"], [Origin(sourceName: "s")]) }
        ids.append(id)
        sequence.append(1)
        type.append(0)
        start.append(0)
        end.append(1_000_000)
        value.append(1)
        origin.append(0)
        flags.append([])
    }
}
