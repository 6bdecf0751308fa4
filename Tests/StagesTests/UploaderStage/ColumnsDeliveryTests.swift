import Changelog
import DeliveryKit
import HealthModel
import MessageBus
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing
import UploaderStage

/// When samples are sent as columns, and what happens with the answers.
@Suite struct ColumnsDeliveryTests {
    private let rig: StageRig<DeliveryStage>

    init() throws { try self.init(.init()) }

    private init(_ settings: DeliverySettings) throws {
        // What is compared element by element is tested elsewhere.
        var unproven = settings
        unproven.proveEvery = nil
        rig = try StageRig { [unproven] in
            DeliveryStage(
                observer: "observer", handlers: [], consolidator: nil, policy: RetryPolicy(base: 1, cap: 8),
                settings: unproven, generator: SeededRandom(seed: 5), instance: "uploader", family: { _ in .other })
        }
        try rig.turn()
    }

    private var uploads: [(effect: Effect, request: DeliveryRequest)] {
        rig.effects.compactMap { effect in (effect.request as? DeliveryRequest).map { (effect, $0) } }
    }

    private func upload() throws -> (effect: Effect, request: DeliveryRequest) { try #require(uploads.first) }

    /// The backend reports what it holds.
    private func announce(columns: Bool) throws {
        let question = try #require(rig.effects.first { $0.request is HoldingsRequest })
        var answer: [String: Value] = [
            "generation": "g", "sequence": 1, "samples": ["alive": 1_000_000, "deleted": 0],
            "counters": ["created": 1_000_000],
        ]
        if columns { answer["accepts"] = ["application/json", .string(SampleDelivery.contentType)] }
        try rig.reply(question, UploadReply.answered(status: 200, body: Array(Value.object(answer).json().utf8)))
    }

    /// The observer has samples up to this sequence number, all of them released.
    private func release(_ sequence: Int64) throws {
        try rig.hear("sync.uploader", ["head": Value(head(sequence)), "released": .integer(sequence)])
    }

    /// Answers the current pull with samples that have these sequences.
    private func answerPull(_ sequences: ClosedRange<Int64>, head last: Int64, deleted: Set<Int64> = []) throws {
        let pull = try #require(rig.pulls.first { $0.name == "samples" })
        var page = SamplePage()
        page.types = ["HKQuantityTypeIdentifierStepCount"]
        page.origins = [Origin(sourceName: "Watch")]
        for sequence in sequences {
            page.ids.append(SampleID(high: UInt64(sequence), low: 7))
            page.sequence.append(sequence)
            page.type.append(0)
            page.start.append(sequence * 1_000_000)
            page.end.append(sequence * 1_000_000)
            page.value.append(Double(sequence))
            page.origin.append(0)
            page.flags.append(deleted.contains(sequence) ? .deleted : [])
        }
        try rig.answer(
            pull,
            .pages([
                [
                    "samples": page.wireValue, "users": ["me"],
                    "user": .column(.int32(Array(repeating: 0, count: page.count))), "from": 0,
                    "through": .integer(sequences.upperBound), "head": Value(head(last)),
                ]
            ]))
    }

    private func answer(_ status: Int = 200, created: Int = 0, refused: Value = []) throws {
        let count = Int64(refused.array?.count ?? 0)
        let body: Value = [
            "generation": "g", "sequence": 1,
            "counts": ["created": .integer(Int64(created)), "updated": 0, "known": 0, "refused": .integer(count)],
            "refused": refused,
        ]
        try rig.reply(
            upload().effect,
            UploadReply.answered(status: status, contentType: "application/json", body: Array(body.json().utf8)))
    }

    private func frontier() throws -> SequenceNumber? { try rig.report().frontier["observer"] }
    private func letters() throws -> [DeadLetter] {
        try DeadLetter.page(in: rig.store.database, RepairSelection(), limit: 1000)
    }

    @Test func onlyABackendThatSaysSoGetsColumns() throws {
        try announce(columns: false)
        try release(5)
        try answerPull(1...5, head: 5)
        let request = try upload().request
        #expect(!request.isColumns && request.contentType == "application/json")
        #expect(try Value(json: request.body)["samples"].array?.count == 5)
        try answer(created: 5)
        #expect(try frontier() == 5)
    }

    /// 'samplesPerSecond' is an average: the amount sent determines the next wait.
    @Test func noMoreThanSoManyASecond() throws {
        let paced = try Self(DeliverySettings(samplesPerSecond: 2))
        try paced.announce(columns: false)
        try paced.release(6)
        try paced.answerPull(1...4, head: 6)
        #expect(paced.uploads.count == 1)
        try paced.answer(created: 4)
        try paced.answerPull(5...6, head: 6)
        #expect(paced.uploads.isEmpty)
        try paced.rig.pass(.milliseconds(1900))
        #expect(paced.uploads.isEmpty)
        try paced.rig.pass(.milliseconds(200))
        #expect(paced.uploads.count == 1)
        try paced.answer(created: 2)
        #expect(try paced.frontier() == 6)
    }

    @Test func deliverSinceKeepsOlderSamplesHereAndCountsThem() throws {
        let late = try Self(DeliverySettings(deliverSince: DeliverSince(Instant(seconds: 4))))
        try late.announce(columns: false)
        try late.release(6)
        try late.answerPull(1...6, head: 6, deleted: [2])
        // A tombstone is sent whatever its date: what it deletes may have been delivered before.
        let body = try Value(json: late.upload().request.body)
        #expect(body["samples"].array?.count == 3 && body["deleted"].array?.count == 1)
        try late.answer(created: 4)
        #expect(try late.frontier() == 6)
        #expect(try late.rig.report().details["keptLocal"]?.int == 2)
        try late.rig.restart()
        #expect(try late.rig.report().details["keptLocal"]?.int == 2)
    }

    @Test func columnsHoldWhatIsSent() throws {
        try announce(columns: true)
        try release(5)
        try answerPull(1...5, head: 5, deleted: [2])
        let request = try upload().request
        #expect(request.isColumns && request.path == "/api/v1/sync/other")
        let sent = try SampleDelivery(body: request.body)
        #expect(sent.user == "me" && sent.syncedAt == rig.now && sent.device != nil)
        #expect(sent.samples.sequence == [1, 3, 4, 5] && sent.samples.value == [1, 3, 4, 5])
        #expect(sent.deleted == [SampleID(high: 2, low: 7)] && sent.deletedVersions == [2])
        #expect(try frontier() == 0)
        try answer(created: 5)
        #expect(try frontier() == 5)
        // A single sample isn't worth columns.
        try release(6)
        try answerPull(6...6, head: 6)
        #expect(try !upload().request.isColumns)
    }

    @Test(arguments: [415, 400]) func whoCannotReadThemGetsTheSameAsJSON(_ status: Int) throws {
        try announce(columns: true)
        try release(5)
        try answerPull(1...5, head: 5)
        #expect(try upload().request.isColumns)
        try rig.reply(
            upload().effect,
            UploadReply.answered(status: status, contentType: "text/html", body: Array("<p>no</p>".utf8)))
        let second = try upload().request
        #expect(!second.isColumns)
        #expect(try Value(json: second.body)["samples"].array?.count == 5)
        try answer(created: 5)
        #expect(try frontier() == 5 && letters().isEmpty)
        try release(9)
        try answerPull(6...9, head: 9)
        #expect(try !upload().request.isColumns)
        try answer(created: 4)
        // This lasts until the backend reports again that it accepts columns.
        try rig.pass(.seconds(3600))
        try announce(columns: true)
        try release(12)
        try answerPull(10...12, head: 12)
        #expect(try upload().request.isColumns)
        // Columns are no longer sent once the backend stops reporting that it accepts them.
        try answer(created: 3)
        try rig.pass(.seconds(3600))
        try announce(columns: false)
        try release(15)
        try answerPull(13...15, head: 15)
        #expect(try !upload().request.isColumns)
    }

    @Test func aBadRowBecomesADeadLetterByItsPlace() throws {
        try announce(columns: true)
        try release(6)
        try answerPull(1...6, head: 6, deleted: [2])
        #expect(try upload().request.isColumns)
        // The third element in the list is the fourth on the page.
        try answer(created: 5, refused: [["id": .null, "list": "samples", "index": 2, "reason": "no"]])
        #expect(try letters().map(\.id) == [SampleID(high: 4, low: 7).description])
        #expect(try frontier() == 6)
    }

    /// If a refusal names no elements, the request is bisected in columns, down to a single element in JSON.
    @Test func whatIsRefusedWithoutANameIsFound() throws {
        try announce(columns: true)
        try release(8)
        try answerPull(1...8, head: 8)
        var (isLast, requests) = (false, 0)
        while let (effect, request) = uploads.first, requests < 60 {
            requests += 1
            let ids =
                request.isColumns
                ? try SampleDelivery(body: request.body).samples.sequence
                : (try Value(json: request.body)["samples"].array ?? []).compactMap { $0["version"].int }
            #expect(request.isColumns == (ids.count > 1))
            if ids.contains(3) {
                isLast = isLast || ids == [3]
                try rig.reply(effect, UploadReply.answered(status: 413, body: []))
            } else {
                try answer(created: ids.count)
            }
        }
        #expect(isLast && requests < 60)
        #expect(try letters().map(\.version) == [3] && frontier() == 8)
    }

    // MARK: Larger requests

    @Test func whatWaitsGoesTogether() throws {
        try announce(columns: true)
        try release(100_000)
        try answerPull(1...2000, head: 100_000)
        // More samples are on their way, and a larger request costs hardly more.
        #expect(uploads.isEmpty)
        for first in stride(from: Int64(2001), to: 18_001, by: 2000) {
            #expect(uploads.isEmpty)
            try answerPull(first...first + 1999, head: 100_000)
        }
        #expect(try SampleDelivery(body: upload().request.body).samples.sequence == Array(1...18_000))
        try answerPull(18_001...20_000, head: 100_000)
        #expect(uploads.count == 1)
        // The stage doesn't wait long.
        try rig.pass(.seconds(1))
        #expect(uploads.count == 2)
        try answer(created: 18_000)
        #expect(try frontier() == 18_000)
        try answer(created: 2000)
        #expect(try frontier() == 20_000)
    }

    @Test func whatIsNewGoesAtOnce() throws {
        try announce(columns: true)
        try release(1000)
        try answerPull(1...500, head: 1000)
        #expect(uploads.count == 1)
        try answerPull(501...1000, head: 1000)
        #expect(uploads.count == 2)
    }

    @Test func inJSONNothingIsPutTogether() throws {
        try announce(columns: false)
        try release(100_000)
        try answerPull(1...2000, head: 100_000)
        #expect(uploads.count == 1)
        try answerPull(2001...4000, head: 100_000)
        #expect(uploads.count == 2)
    }
}
