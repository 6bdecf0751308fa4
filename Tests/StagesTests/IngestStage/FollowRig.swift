import Changelog
import HTTP
import HealthModel
import HealthPush
import HealthStore
import IngestStage
import ObserverStage
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

/// Two observers, and a follower between them that asks for the first one's store page by page.
///
/// `@unchecked Sendable`: a part is sent on the thread that submits it, which is the test's.
final class FollowRig: @unchecked Sendable {
    let there: StageRig<ObserverStage>
    let here: StageRig<ObserverStage>
    /// Whether all changes in the first store belong to another person.
    var isAnothers = false
    /// The generation of the first store.
    var generation = "g1"
    /// What answers contain besides samples, if anything.
    var zones = Value.null
    var token = "good"
    /// The cursors from which changes were requested; an empty one means none.
    private(set) var asked: [String] = []
    /// The number of samples in each answer that was sent over the wire.
    private(set) var carried: [Int] = []
    /// How long the first stack was allowed to wait.
    private(set) var waits: [String] = []
    private(set) var notices: [Follower.Notice] = []
    /// How many receipts will be lost from now on.
    var losses = 0
    /// The number of parts after which the second observer restarts.
    var restartAfter: Int?
    private var parts = 0
    private var pushes = 0
    private var hasNews = true
    private var line: ObserverLine?
    private var follower: Follower?

    /// - Parameter here: the second observer; nil if the rig makes its own.
    init(follows: Set<String> = ["test"], here: StageRig<ObserverStage>? = nil) throws {
        there = try StageRig { ObserverStage(instance: "observer", zone: "Europe/Berlin", defaultUser: "anna") }
        self.here =
            try here
            ?? StageRig {
                ObserverStage(instance: "observer", zone: "Asia/Tokyo", defaultUser: "anna", follows: follows)
            }
        try there.turn()
        try self.here.turn()
        line = ObserverLine(.impatient) { [weak self] part in
            do { try self?.carry(part) } catch { Issue.record(error) }
        }
        try restartFollower()
    }

    /// As after a SIGKILL: everything in memory is gone.
    func restartFollower() throws {
        let line = try #require(line)
        follower = Follower(
            address: "http://there", line: line, token: { "good" },
            ask: { [unowned self] request, _ in
                self.waits.append(request.query["wait"] ?? "")
                return try self.answer(request)
            },
            clock: { [unowned self] in self.here.now },
            notice: { [unowned self] notice in self.notices.append(notice) })
    }

    private func carry(_ part: IngestPart) throws {
        let body = try CBORDecoder.decode(CBOREncoder.encode(part.body))
        here.sent = []
        try here.hear(IngestPart.topic("observer"), body)
        let said = here.sent.filter { $0.topic == IngestReceipt.topic("test") }
        parts += 1
        if restartAfter == parts {
            try here.restart()
            return
        }
        if losses > 0 {
            losses -= 1
            return
        }
        for message in said {
            let receipt = try CBORDecoder.decode(CBOREncoder.encode(message.body))
            line?.hear(try #require(receipt.read(IngestReceipt.self)))
        }
    }

    /// What the first stack answers, at most ten samples at a time.
    private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        guard request.bearerToken == token else { return HTTPResponse(status: 401) }
        let since = request.query["since"] ?? ""
        asked.append(since)
        let parts = since.split(separator: ".").map(String.init)
        if let first = parts.first, first != generation { return HTTPResponse(status: 410) }
        let after = SequenceNumber(parts.count > 1 ? Int64(parts[1]) ?? 0 : 0)
        let page = try HealthStoreReader(database: there.store.database).anchored(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: after)), limits: PullLimits(rows: 10))
        var answer = ChangesAnswer(user: "anna")
        answer.next = "\(generation).\(page.covered)"
        answer.hasMore = !page.isComplete
        if !page.samples.isEmpty, !isAnothers {
            // In two pages, so that one part may arrive without the other.
            let middle = page.samples.count / 2
            answer.pages = [page.samples.filter { $0 < middle }, page.samples.filter { $0 >= middle }]
                .filter { !$0.isEmpty }
        }
        answer.zones = zones
        hasNews = answer.next != since
        carried.append(answer.count)
        return HTTPResponse(
            status: 200, headers: ["Content-Type": ChangesAnswer.contentType], body: answer.encoded())
    }

    /// Follows until there is nothing new.
    func catchUp() throws {
        for _ in 0..<200 {
            hasNews = true
            _ = try step()
            if !hasNews { return }
        }
        Issue.record("it doesn't catch up: \(notices)")
    }

    var standing: IngestDetails.Following? { follower?.standing }

    func step() throws -> Duration {
        guard var next = follower else { return .seconds(0) }
        let pause = next.step()
        follower = next
        return pause
    }

    /// Adds samples and deletions to the first store.
    func push(_ samples: [String], deleted: [String] = []) throws {
        let gone = deleted.map { "\"\($0)\"" }.joined(separator: ",")
        let body = "{\"samples\": [\(samples.joined(separator: ","))], \"deleted\": [\(gone)]}"
        let changes = try SamplesBody.changes(json: Array(body.utf8))
        pushes += 1
        var part = IngestPart(id: "push \(pushes)", number: 0, user: "anna", device: "phone", way: "/v1/samples")
        part.isLast = true
        part.records = changes.records
        part.deleted = changes.deleted
        try there.hear(IngestPart.topic("observer"), part.body)
    }

    /// A heart rate in the minute of `IngestRig.steps` with the same number.
    static func pulse(_ number: Int) -> String {
        let start = 1_743_000_000 + 60 * number
        return "{\"type\": \"HKQuantityTypeIdentifierHeartRate\", \"start\": \(start), \"end\": \(start), "
            + "\"value\": 60, \"unit\": \"count/min\", \"source\": \"Watch\"}"
    }

    /// Whether the second observer keeps days from becoming final.
    func isOpen() throws -> Bool { try here.report().details["importOpen"] == true }

    /// All samples in a store that aren't deleted.
    static func alive(_ rig: StageRig<ObserverStage>) throws -> [String] {
        let page = try HealthStoreReader(database: rig.store.database).anchored(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: .beginning)),
            limits: PullLimits(rows: .max, bytes: .max, scanned: .max)
        ).samples
        return page.ids.indices.filter { !page.flags[$0].contains(.deleted) }.map {
            "\(page.ids[$0]) \(page.typeName($0)) \(page.start[$0]) \(page.end[$0]) \(page.value[$0]) "
                + "\(page.originOf($0)) \(page.metadata[$0])"
        }.sorted()
    }

    func isSame() throws -> Bool { try Self.alive(here) == Self.alive(there) }
}
