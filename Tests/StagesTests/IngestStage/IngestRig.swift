import Changelog
import Clocks
import Configuration
import HTTP
import HealthModel
import HealthPush
import HealthStore
import IngestStage
import ObserverStage
import Protocol
import SQLite
import StageKit
import Synchronization
import TestSupport
import Testing

/// An ingest in front of an observer: pushed samples go through both, and the bus between them loses the messages that
/// a test selects.
///
/// `@unchecked Sendable`: a part is sent on the thread that submits it, which is the test's.
final class IngestRig: @unchecked Sendable {
    let observer: StageRig<ObserverStage>
    /// Parts that reached the observer, including repeats.
    private(set) var heard: [IngestPart] = []
    /// How many answers will be lost from now on.
    var losses = 0
    /// The number of the part before which the observer restarts.
    var restartBefore: Int64?
    var isObserverThere = true
    var isDead = false
    /// What was said to the debouncer.
    private(set) var woken: [WakeApp] = []
    /// What the debouncer then reports; nil: it doesn't answer.
    var wakeAnswer: (@Sendable (WakeApp) -> DebouncerDetails.Wake?)? = { .init(id: $0.id, woken: true) }
    private(set) var wakes: WakeLine?
    /// How often a token was looked up.
    private(set) var lookups = 0
    /// Why phones' credentials were refused.
    private(set) var noticed: [String] = []
    /// The phones that joined, or may.
    var tokens = TokenList()
    var canStoreTokens = true
    var now = Instant(seconds: 1_743_069_600)
    private var generator = SeededRandom(seed: 3)
    private var door: IngestDoor?
    private var line: ObserverLine?

    init(requestsPerMinute: Int = 6000) throws {
        observer = try StageRig { ObserverStage(instance: "observer", zone: "Europe/Berlin", defaultUser: "me") }
        try observer.turn()
        let line = ObserverLine(.impatient) { [weak self] part in
            do { try self?.carry(part) } catch { Issue.record(error) }
        }
        self.line = line
        let wakes = WakeLine(repeatAfter: .milliseconds(1), patience: .milliseconds(200)) { [weak self] wake in
            guard let self else { return }
            woken.append(wake)
            if let answer = wakeAnswer?(wake) { self.wakes?.hear([answer]) }
        }
        self.wakes = wakes
        wakes.hear([])
        door = IngestDoor(
            requestsPerMinute: requestsPerMinute, line: line, clock: { [weak self] in self?.now ?? .epoch },
            visitor: { [weak self] credential in
                self?.lookups += 1
                return switch Self.shown(by: credential) {
                case "good": .caller(.init(id: "1", user: "anna", device: "phone", mayIngest: true))
                case "reads": .caller(.init(id: "2", user: "anna", device: "wall", mayIngest: false))
                case "owner":
                    .caller(.init(id: "3", user: "anna", device: "phone", mayIngest: true, mayRead: true))
                case "ended": .ended
                case "revoked": .revoked
                case let text: self?.holder(of: text) ?? .unknown
                }
            },
            joining: { [weak self] in self?.join($0) },
            notice: { [weak self] in self?.noticed.append($0) },
            isObserverThere: { [weak self] in self?.isObserverThere == true },
            wakes: wakes)
    }

    /// What a phone that is let in sends.
    func push(_ body: String, by way: WayIn) throws -> HTTPResponse {
        var headers: [String: String] = [:]
        if case .signature(let header, let prefix) = way.proof {
            headers[header] = prefix + BodySignature(of: Array(body.utf8), key: "good").hexadecimal
        }
        return try send("POST", Self.path(way.path), body: body, type: way.types.first, headers: headers)
    }

    /// A phone that signs has its name as its secret.
    private static func shown(by credential: IngestDoor.Credential) -> String? {
        switch credential {
        case .token(let text): return text
        case .phone(let id, let signed):
            guard let signed else { return id }
            return BodySignature(of: signed.body, key: id) == signed.signature ? id : nil
        }
    }

    private func holder(of text: String?) -> IngestDoor.Visitor? {
        guard let secret = text.flatMap({ TokenSecret($0) }) else { return nil }
        return switch tokens.answer(to: secret, at: now) {
        case .granted(let grant):
            .caller(
                .init(id: grant.id, user: grant.user, device: grant.device, mayIngest: grant.allows(.ingest)))
        case .ended: .ended
        case .revoked: .revoked
        case .unknown: .unknown
        }
    }

    private func join(_ request: JoinRequest) -> JoinAnswer? {
        guard canStoreTokens else { return nil }
        let first = TokenPair.make(using: &generator)
        return tokens.answer(request, first: first, salt: "\(generator.next())", now: now)
    }

    /// Makes an invitation, as `healthbus pair` does.
    /// - Returns: its code.
    func invite(_ user: String = "anna") throws -> String {
        let code = TokenSecret.makeCode(using: &generator)
        _ = try tokens.add(TokenWish(user: user, isInvited: true), code, now: now, using: &generator)
        return code.text
    }

    /// A route's path, for the holder of the token "good".
    static func path(_ template: String) -> String {
        template.replacing("{user}", with: IngestDoor.Caller.uuid(of: "1")).replacing("{phone}", with: "good")
    }

    /// Passes a part on, encoded and decoded as on the bus.
    private func carry(_ part: IngestPart) throws {
        if isDead { return }
        if restartBefore == part.number {
            restartBefore = nil
            try observer.restart()
        }
        let bytes = CBOREncoder.encode(part.body)
        #expect(bytes.count < Message.maximumFrame)
        let body = try CBORDecoder.decode(bytes)
        heard.append(try #require(IngestPart(body)))
        observer.sent = []
        try observer.hear(IngestPart.topic("observer"), body)
        let said = observer.sent.filter { $0.topic == IngestReceipt.topic("test") }
        if losses > 0 {
            losses -= 1
            return
        }
        for message in said {
            let answer = try CBORDecoder.decode(CBOREncoder.encode(message.body))
            line?.hear(try #require(answer.read(IngestReceipt.self)))
        }
    }

    func send(
        _ method: String = "POST", _ path: String = "/v1/samples", body: String = "", token: String? = "good",
        type: String? = "application/json", headers: [String: String] = [:], peer: UInt64 = 1
    ) throws -> HTTPResponse {
        let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
        var request = HTTPRequest(method: method, path: parts[0], body: Array(body.utf8))
        if parts.count == 2 {
            for pair in parts[1].split(separator: "&").map({ $0.split(separator: "=").map(String.init) }) {
                request.query[pair[0]] = pair.last
            }
        }
        request.peer = peer
        for (name, value) in headers { request.headers[name] = value }
        if let token { request.headers["Authorization"] = "Bearer \(token)" }
        if let type { request.headers["Content-Type"] = type }
        let door = try #require(door)
        switch door.admission(of: request) {
        case .refuse(let answer): return answer
        case .collect(_, let answer?): return answer(request)
        case .collect, .stream: fatalError("a body without an answer")
        }
    }

    /// Posts samples, given as JSON objects, and deletions.
    func post(_ samples: [String], deleted: [String] = []) throws -> Value {
        let body =
            "{\"samples\": [\(samples.joined(separator: ","))], \"deleted\": [\(deleted.map { "\"\($0)\"" }.joined(separator: ","))]}"
        let answer = try send(body: body)
        try #require(answer.status == 200, "\(answer.text)")
        return try Value(json: answer.body)
    }

    /// All samples that aren't deleted, in full.
    func page() throws -> SamplePage {
        let reader = try HealthStoreReader(database: observer.store.database)
        let query = SliceQuery(
            user: "anna", types: .allExcept([]), ranges: [Instant(seconds: 0)..<Instant(seconds: 4_000_000_000)],
            detailed: .allExcept([]))
        return try reader.slice(query, limits: PullLimits(rows: 1_000_000, bytes: 1 << 30)).samples
    }

    func details() throws -> IngestDetails { try #require(door).details(port: 1) }

    /// How many undeleted samples the store holds.
    func alive() throws -> Int64 {
        try observer.store.database.prepare("SELECT coalesce(sum(alive), 0) FROM heads").firstRow { $0.int64(0) } ?? -1
    }

    /// A step sample; each `number` is a different minute.
    static func steps(_ number: Int, uuid: String? = nil, value: Double = 12, more: String = "") -> String {
        let start = 1_743_000_000 + 60 * number
        return "{\"type\": \"HKQuantityTypeIdentifierStepCount\", \"start\": \(start), \"end\": \(start + 60), "
            + "\"value\": \(value), \"source\": \"Watch\"\(uuid.map { ", \"uuid\": \"\($0)\"" } ?? "")\(more)}"
    }

    static func uuid(_ number: Int) -> String {
        let text = String(number)
        return "01977F3A-5C00-8ABC-9DEF-" + String(repeating: "0", count: 12 - text.count) + text
    }
}

extension Value {
    /// The outcome that the answer reports for each item.
    var words: [String?] { (self["results"].array ?? []).map(\.string) }
}

extension RequestHandover.Pace {
    /// For an observer that answers at once, or never.
    static var impatient: RequestHandover.Pace {
        var pace = RequestHandover.Pace()
        (pace.repeatAfter, pace.patience) = (.milliseconds(1), .milliseconds(200))
        return pace
    }
}
