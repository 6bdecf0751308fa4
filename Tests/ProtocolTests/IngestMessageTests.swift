import HealthModel
import Protocol
import TestSupport
import Testing

/// Pushed samples, as they travel over the bus.
struct IngestMessageTests {
    private var part: IngestPart {
        var part = IngestPart(id: "1f", number: 3, user: "me", device: "phone", way: "/v1/samples")
        part.isLast = true
        var records = RecordBatch()
        records.types = ["HKQuantityTypeIdentifierStepCount", "x"]
        records.units = ["count", ""]
        records.origins = [Origin(sourceName: "Watch", sourceVersion: "11", productType: "Watch6,2", device: "d")]
        records.type = [0, 1]
        records.unit = [0, 1]
        records.origin = [0, 0]
        records.start = [-5, 1_743_000_000_000_001]
        records.end = [7, 1_743_000_000_000_001]
        records.value = [12.5, -0.25]
        records.created = [0, 9]
        records.flags = [.userEntered, .correlationChild]
        records.metadata = TextColumn()
        records.payload = TextColumn()
        for text in ["{\"a\":1}", ""] {
            records.metadata.append(text)
            records.payload.append(text)
        }
        records.healthKitUUID = [nil, SampleID(high: 1, low: 2)]
        records.line = [1, 4]
        part.records = records
        part.deleted = [SampleID(high: 3, low: 4)]
        part.quarantined = [QuarantinedInput(line: 2, reason: "start isn't a date", raw: "{\"ü\": 1}")]
        return part
    }

    private func carried(_ value: Value) throws -> Value { try CBORDecoder.decode(CBOREncoder.encode(value)) }

    @Test func aPartComesAsItWent() throws {
        let part = part
        let read = try #require(IngestPart(try carried(part.body)))
        #expect(read.id == "1f" && read.number == 3 && read.isLast && read.user == "me" && read.device == "phone")
        #expect(read.way == "/v1/samples" && read.deleted == part.deleted && read.quarantined == part.quarantined)
        // Columns are compared in their encoded form.
        #expect(read.body == part.body && read.records.flags == part.records.flags)
        #expect(read.records.healthKitUUID == part.records.healthKitUUID && read.records.start == part.records.start)
        let empty = try #require(
            IngestPart(try carried(IngestPart(id: "a", number: 0, user: "u", device: "d", way: "w").body)))
        #expect(empty.records.count == 0 && !empty.isLast && empty.deleted.isEmpty && empty.quarantined.isEmpty)
    }

    /// A part with changes from another stack.
    @Test func aPartThatFollowsComesAsItWent() throws {
        var part = IngestPart(id: "2f", number: 0, user: "me", device: "", way: "/api/v1/changes")
        var following = IngestPart.Following(cursor: "g.7.x")
        following.zones = try ZoneTimeline(zone: "Asia/Tokyo").wireValue
        following.characteristics = ["dateOfBirth": "1985-07-14"]
        (following.begins, following.isEnd, following.answers) = (true, true, true)
        part.following = following
        part.followed = PageFixture.samples(20, isFull: true)
        let read = try #require(IngestPart(try carried(part.body)))
        #expect(read.following == following && read.body == part.body && read.followed.ids == part.followed.ids)
        part.following = IngestPart.Following()
        #expect(try IngestPart(carried(part.body))?.following == IngestPart.Following())
        #expect(try IngestPart(carried(self.part.body))?.following == nil)
        guard case .object(var members) = part.body else { return }
        members["followed"] = ["id": 7]
        #expect(IngestPart(.object(members)) == nil)
    }

    @Test func changesComeAsTheyWent() throws {
        let page = PageFixture.samples(20, isFull: true)
        var answer = ChangesAnswer(user: "anna")
        (answer.next, answer.hasMore, answer.pages) = ("g.7.x", true, [page, page])
        answer.zones = try ZoneTimeline(zone: "Asia/Tokyo").wireValue
        let read = try ChangesAnswer(body: answer.encoded())
        #expect(read.user == "anna" && read.next == "g.7.x" && read.hasMore && read.zones == answer.zones)
        #expect(read.pages.map(\.wireValue) == answer.pages.map(\.wireValue) && read.characteristics == .null)
        #expect(read.count == 2 * page.count)
        for body in [[], Array("{}".utf8), CBOREncoder.encode(["user": "anna", "next": "", "pages": []])] {
            #expect(throws: (any Error).self) { _ = try ChangesAnswer(body: body) }
        }
    }

    /// A part whose columns don't match isn't accepted as a part, so it never reaches the store.
    @Test func whatDoesNotFitTogetherIsNoPart() throws {
        let body = try #require(part.body.object)
        let records = try #require(body["records"]?.object)
        func with(_ name: String, _ value: Value?) -> Value {
            var records = records
            records[name] = value
            return .object(body.merging(["records": .object(records)]) { $1 })
        }
        #expect(IngestPart(.object(body)) != nil)
        for name in records.keys where !["metadata", "payload", "uuid"].contains(name) {
            #expect(IngestPart(with(name, nil)) == nil, "without \(name)")
        }
        for name in records.keys { #expect(IngestPart(with(name, 7)) == nil, "\(name) ill-typed") }
        #expect(IngestPart(with("type", .column(.int32([0, 2])))) == nil)
        #expect(IngestPart(with("origin", .column(.int32([0, -1])))) == nil)
        #expect(IngestPart(with("value", .column(.float64([1])))) == nil)
        #expect(IngestPart(with("uuid", .bytes([UInt8](repeating: 1, count: 17)))) == nil)
        for name in ["id", "part", "user", "device", "way"] {
            #expect(IngestPart(.object(body.filter { $0.key != name })) == nil, "without \(name)")
        }
        #expect(IngestPart(.object(body.merging(["part": -1]) { $1 })) == nil)
        #expect(IngestPart(.object(body.merging(["deleted": .bytes([1, 2])]) { $1 })) == nil)
        #expect(IngestPart(.null) == nil)
    }

    private var withDropped: IngestReceipt {
        var receipt = IngestReceipt(id: "1f", part: 3)
        receipt.dropped = [4, 7]
        return receipt
    }

    @Test func anAnswerComesAsItWent() throws {
        for receipt in [
            withDropped,
            IngestReceipt(id: "1f", part: 0), IngestReceipt(id: "1f", part: 2, beginAgain: true),
            IngestReceipt(id: "1f", part: 2, refused: "the store's file was removed"),
            IngestReceipt(id: "1f", part: 1, outcomes: [0, 1, 4], reasons: [.init(row: 2, text: "too many")]),
            IngestReceipt(id: "1f", part: 0, cursor: "", copying: true),
        ] {
            #expect(try carried(Value(receipt)).read(IngestReceipt.self) == receipt)
        }
    }

    @Test(.enabled(if: SchemaChecker.isInstalled, "make test installs the schema's checker"))
    func bothObeyTheSchema() throws {
        func check(_ rule: String, _ value: Value) throws -> String? {
            try SchemaChecker.check(rule, CBOREncoder.encode(value))
        }
        #expect(try check("ingest", part.body) == nil)
        var follower = IngestPart(id: "f", number: 0, user: "me", device: "", way: "/api/v1/changes")
        follower.following = IngestPart.Following()
        #expect(try check("ingest", follower.body) == nil)
        follower.following?.zones = try ZoneTimeline(zone: "Asia/Tokyo").wireValue
        follower.following?.characteristics = ["dateOfBirth": "1985-07-14"]
        follower.following?.begins = true
        follower.following?.isEnd = true
        follower.following?.answers = false
        follower.followed = PageFixture.samples(20, isFull: true)
        #expect(try check("ingest", follower.body) == nil)
        #expect(try check("ingest", IngestPart(id: "a", number: 0, user: "u", device: "d", way: "w").body) == nil)
        for receipt in [
            withDropped, IngestReceipt(id: "1f", part: 0), IngestReceipt(id: "1f", part: 2, beginAgain: true),
            IngestReceipt(id: "1f", part: 2, refused: "why"),
            IngestReceipt(id: "1f", part: 0, cursor: "g.7.x", copying: true),
            IngestReceipt(id: "1f", part: 1, outcomes: [0, 4], reasons: [.init(row: 1, text: "why")]),
        ] {
            #expect(try check("ingested", Value(receipt)) == nil)
        }
        let body = try #require(part.body.object)
        let records = try #require(body["records"]?.object)
        for name in records.keys {
            let spoilt = records.merging([name: .bool(true)]) { $1 }
            #expect(try check("ingest", .object(body.merging(["records": .object(spoilt)]) { $1 })) != nil, "\(name)")
        }
    }
}
