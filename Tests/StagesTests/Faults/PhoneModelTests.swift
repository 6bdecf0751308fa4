import HTTP
import HealthModel
import HealthPush
import HealthStore
import IngestStage
import Protocol
import Simulation
import Testing

/// The ingest of `PhoneSender` compared with the real one: the same requests and observer, so the same parts and
/// outcome.
struct PhoneModelTests {
    /// Nothing here depends on how long anything takes: a part is never given up.
    private static let pace: RequestHandover.Pace = {
        var pace = RequestHandover.Pace()
        (pace.repeatAfter, pace.patience) = (.milliseconds(1), .seconds(60))
        pace.longest = pace.patience
        return pace
    }()

    @Test(arguments: UInt64(1)...40) func theModelDoesWhatTheIngestDoes(seed: UInt64) throws {
        for (number, request) in try Self.requests(isLong: seed <= 3).enumerated() {
            let observer = ScriptedObserver(seed: seed << 8 | UInt64(number))
            let door = RealDoor(observer, Self.pace)
            let real = try door.outcome(of: request)
            var copy = observer
            let model = try Self.outcome(of: request, &copy, Self.pace)
            #expect(model == real, "\(request.path), \(number)")
            #expect(copy.heard == door.observer.heard, "\(request.path), \(number)")
        }
    }

    /// What was answered before the observer fell silent isn't said again.
    @Test func bothGiveUp() throws {
        var pace = Self.pace
        pace.patience = .milliseconds(300)
        let request = try PhoneRequest.samples(Self.records(3), deleted: [SampleID(high: 1, low: 1)], hasOdd: true)
        let door = RealDoor(ScriptedObserver(seed: 1, silentAfter: 1), pace)
        #expect(try door.outcome(of: request) == Outcome(status: 503, details: "observer-silent"))
        var observer = ScriptedObserver(seed: 1, silentAfter: 1)
        #expect(try Self.outcome(of: request, &observer, pace) == Outcome(status: 503, details: "observer-silent"))
        for heard in [observer.heard, door.observer.heard] {
            #expect(heard.prefix(2).map { $0.part["part"].int } == [0, 1])
            #expect(heard.count > 1 && heard.dropFirst().allSatisfy { $0 == heard[1] })
        }
        // Every millisecond, as long as its patience lasts.
        #expect(observer.heard.count == 301)
    }

    @Test func theScriptsUseEveryWay() throws {
        var (paths, parts, most) = (Set<String>(), Set<Int>(), 0)
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SimulatedRandom(seed: seed)
            let script = try PhoneScript(SimulatedData(seed: seed), seed: seed, using: &random)
            for case .requests(let requests) in script.inputs {
                most = max(most, requests.count)
                for request in requests {
                    paths.insert(request.path)
                    parts.insert(request.parts("id").count)
                }
            }
        }
        let ways = PhoneRequest.ways.map { $0.path.replacing("{phone}", with: PhoneRequest.device) }
        #expect(paths.isSuperset(of: ways + ["/v1/types", "/v1/events"]))
        #expect(parts.isSuperset(of: [1, 2, 3]) && most > 1)
    }

    private static func records(_ count: Int) -> [Record] {
        (0..<count).map {
            Record(
                start: Instant(seconds: 1_743_000_000 + 60 * Int64($0)), value: Double($0 + 1),
                uuid: SampleID(high: 7, low: UInt64($0)))
        }
    }

    /// - Parameter isLong: whether one has so many records that they don't fit into one part.
    private static func requests(isLong: Bool) throws -> [PhoneRequest] {
        let few = records(5)
        return try PhoneRequest.ways.map { try .push(few, by: $0, hasOdd: true) } + [
            .samples([], deleted: few.compactMap(\.uuid), areLines: true),
            .samples(few, deleted: few.compactMap(\.uuid), hasOdd: true, areLines: true),
            .hours(of: few, areComplete: true), .addType("coffee"),
            .addEvent("e-1", of: "coffee", at: Instant(seconds: 1_743_000_000), 2), .changeEvent("e-1", to: 3),
            .removeEvent("e-1"),
        ] + (isLong ? [.samples(records(4100), deleted: [SampleID(high: 1, low: 1)], hasOdd: true)] : [])
    }

    // MARK: The model

    private static func outcome(
        of request: PhoneRequest, _ observer: inout ScriptedObserver, _ pace: RequestHandover.Pace
    ) throws -> Outcome {
        var now = MonotonicTime(microseconds: 1_000_000)
        var flight = PhoneFlight(request, pace, at: now)
        var ids = 0
        while true {
            let step = flight.step(at: now) {
                ids += 1
                return "\(ids)"
            }
            switch step {
            case .send(let part, _): for receipt in observer.answers(to: part) { flight.hear(receipt, at: now) }
            case .done(let receipts): return try Outcome(of: receipts, to: request.parts("id"))
            case .failed(.silent): return Outcome(status: 503, details: "observer-silent")
            case .failed(.refused): return Outcome(status: 503, details: "not-kept")
            case .begin, nil: now += .milliseconds(1)
            }
        }
    }
}

/// How a request ends, for its sender.
private struct Outcome: Equatable {
    let status: Int
    /// How many items had which outcome, what became of an event or a type, or the problem's code.
    let details: Value

    init(status: Int, details: Value) { (self.status, self.details) = (status, details) }

    private static let words = ["added", "changed", "known", "deleted", "unknown", "quarantined"]

    /// From the ingest's answer.
    init(_ answer: HTTPResponse, isOwn: Bool) throws {
        let body = try Value(json: answer.body)
        status = answer.status
        if status == 503 {
            details = body["code"]
        } else {
            details = isOwn ? body : .object(.init(uniqueKeysWithValues: Self.words.map { ($0, body[$0]) }))
        }
    }

    /// From the observer's receipts.
    init(of receipts: [IngestReceipt], to parts: [IngestPart]) throws {
        guard parts.first?.own == nil else {
            self.init(
                status: receipts.first?.own?.status ?? 503, details: receipts.first?.own?.body ?? "not-kept")
            return
        }
        var counts = Dictionary(uniqueKeysWithValues: Self.words.map { ($0, Int64(0)) })
        for (part, receipt) in zip(parts, receipts) {
            for (row, number) in receipt.outcomes.enumerated() {
                let outcome = try #require(RecordOutcome(rawValue: number))
                let isDeletion = row >= part.records.count
                counts[isDeletion && outcome == .added ? "unknown" : "\(outcome)", default: 0] += 1
            }
            for input in part.quarantined {
                counts[receipt.dropped.contains(input.line) ? "deleted" : "quarantined", default: 0] += 1
            }
        }
        let status = WayIn.named(parts.first?.way)?.status ?? 200
        self.init(status: status, details: .object(counts.mapValues { .integer($0) }))
    }
}

/// An observer whose answers a seed determines: lost, doubled or late ones among them.
private struct ScriptedObserver {
    /// A part without its id.
    struct Heard: Equatable {
        /// Which id it had, by the order in which they came.
        let id: Int
        let part: Value
    }

    private(set) var heard: [Heard] = []
    private var ids: [String] = []
    private var random: SimulatedRandom
    /// The receipt before the last.
    private var earlier: IngestReceipt?
    /// How many parts it hears before it answers no more.
    private let silentAfter: Int?

    init(seed: UInt64, silentAfter: Int? = nil) {
        random = SimulatedRandom(seed: seed)
        self.silentAfter = silentAfter
    }

    mutating func answers(to part: IngestPart) -> [IngestReceipt] {
        if !ids.contains(part.id) { ids.append(part.id) }
        var content = part
        content.id = ""
        heard.append(Heard(id: ids.firstIndex(of: part.id) ?? -1, part: content.body))
        if let silentAfter { return heard.count > silentAfter ? [] : [receipt(for: part)] }
        let late = earlier
        let receipt = receipt(for: part)
        earlier = receipt
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: return []
        case 2: return [receipt, receipt]
        case 3: return [IngestReceipt(id: part.id, part: part.number, beginAgain: true), receipt]
        case 4: return [late, receipt].compactMap { $0 }
        case 5 where Bool.random(using: &random):
            return [IngestReceipt(id: part.id, part: part.number, refused: "the store's file was removed")]
        default: return [receipt]
        }
    }

    private mutating func receipt(for part: IngestPart) -> IngestReceipt {
        var receipt = IngestReceipt(id: part.id, part: part.number)
        receipt.outcomes = part.records.line.map { _ in UInt8.random(in: 0...4, using: &random) }
        let deletions: [RecordOutcome] = [.deleted, .added, .known]
        receipt.outcomes += part.deleted.map { _ in deletions[Int.random(in: 0...2, using: &random)].rawValue }
        receipt.dropped = part.quarantined.map(\.line).filter { _ in Bool.random(using: &random) }
        if part.own != nil {
            let answers = [
                OwnAnswer(201, ["id": "e-1", "version": 1]), OwnAnswer(200, ["id": "e-1", "version": 2]),
                .refusal(410, "deleted", "it was deleted", hint: "use another id"), nil,
            ]
            receipt.own = answers[Int.random(in: 0..<answers.count, using: &random)]
        }
        return receipt
    }
}

/// The real ingest in front of a scripted observer.
///
/// `@unchecked Sendable`: a part is sent on the thread that submits it, which is the test's.
private final class RealDoor: @unchecked Sendable {
    private(set) var observer: ScriptedObserver
    private let pace: RequestHandover.Pace
    private var line: ObserverLine?

    init(_ observer: ScriptedObserver, _ pace: RequestHandover.Pace) { (self.observer, self.pace) = (observer, pace) }

    func outcome(of request: PhoneRequest) throws -> Outcome {
        let line = ObserverLine(pace) { [unowned self] part in
            for receipt in observer.answers(to: part) { self.line?.hear(receipt) }
        }
        self.line = line
        let (now, user, device) = (request.received, PhoneRequest.user, PhoneRequest.device)
        let door = IngestDoor(
            requestsPerMinute: 6000, line: line, clock: { now },
            visitor: { _ in .caller(.init(id: "1", user: user, device: device, mayIngest: true, mayRead: true)) },
            joining: { _ in nil }, notice: { Issue.record("\($0)") }, isObserverThere: { true },
            wakes: WakeLine { _ in })
        var sent = HTTPRequest(
            method: request.method, path: request.path.replacing("{user}", with: IngestDoor.Caller.uuid(of: "1")),
            body: Array(request.body.utf8))
        for (name, value) in request.headers { sent.headers[name] = value }
        sent.headers["Content-Type"] = request.type
        sent.headers["Authorization"] = "Bearer good"
        guard case .collect(_, let answer?) = door.admission(of: sent) else {
            throw PhoneRequest.UnknownWay(path: request.path)
        }
        return try Outcome(answer(sent), isOwn: request.isOwn)
    }
}
