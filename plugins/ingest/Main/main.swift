import Client
import Clocks
import Configuration
import Foundation
import HTTP
import HealthModel
import IngestStage
import Logging
import MessageBus
import Protocol
import StageKit
import Synchronization

PluginProgram.start("ingest") { context, stopper in
    let observer = context.stack.only(.observer)?.name ?? "observer"
    let debouncer = context.stack.only(.debouncer)?.name ?? "debouncer"
    let log = context.log
    let uses = TokenUses(folder: context.folder)
    let tokens = TokenFile(context.state)
    let gate = TokenGate(tokens, noting: uses)
    let observerHeard = Mutex(MonotonicTime.distantPast)
    let place = Mutex<BusMember?>(nil)
    let line = ObserverLine { part in
        place.withLock { $0 }?.say(IngestPart.topic(observer), part.body)
    }
    let wakes = WakeLine { wake in
        place.withLock { $0 }?.say(WakeApp.topic(debouncer), .object(wake.body))
    }
    let options = context.configuration
    let folder = context.folder + "/files"
    try StateFolder.make(folder)
    // Removes anything that an earlier process received but didn't pass on: its sender got no answer, and sends it
    // again.
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        try FileManager.default.removeItem(atPath: folder + "/" + name)
    }
    let address = context.address
    let handover = FileHandover(observer: observer) { try StackClient(address: address) }
    let door = IngestDoor(
        requestsPerMinute: Int(options["requestsPerMinute"].int ?? 6000), line: line,
        files: .init(handover, folder: folder, bytes: Int(options["fileBytes"].int ?? 16 << 30)) {
            log(.ingestFileLost, failed: true, ["why": $0])
        }, clock: { WallClock.now },
        visitor: { credential in
            do {
                let (now, moment) = (WallClock.now, MonotonicClock.now)
                let answer =
                    switch credential {
                    case .token(let text): try gate.answer(to: text, now: now, at: moment)
                    case .phone(let id, let signed): try gate.answer(toSigner: id, signed, now: now, at: moment)
                    }
                return switch answer {
                case .granted(let grant):
                    .caller(
                        .init(
                            id: grant.id, user: grant.user, device: grant.device, mayIngest: grant.allows(.ingest),
                            mayRead: grant.allows(.read)))
                case .ended: .ended
                case .revoked: .revoked
                case .unknown: .unknown
                }
            } catch {
                log(.ingestTokensUnreadable, failed: true, ["why": "\(error)"])
                return .unknown
            }
        },
        joining: { request in
            do { return try tokens.answer(request, now: WallClock.now) } catch {
                log(.ingestTokensUnreadable, failed: true, ["why": "\(error)"])
                return nil
            }
        },
        notice: { log(.ingestPhoneRefused, ["why": $0]) },
        isObserverThere: { MonotonicClock.now - observerHeard.withLock { $0 } < Repetition.silence },
        wakes: wakes)

    var limits = HTTPServer.Limits()
    limits.threads = 8 + WakeLine.waiters
    limits.connections = Int(options["connections"].int ?? 256)
    limits.connectionsPerAddress = limits.connections
    limits.bodyBytes = Int(options["bodyBytes"].int ?? 16 << 20)
    limits.totalBodyBytes = 2 * limits.bodyBytes
    // Four threads stay free for small requests while files are being passed on and callers wait for a sync.
    limits.streams = 4
    limits.streamSeconds = 6 * 3600
    let endpoint = try IngestAddress.endpoint(of: context.instance)
    if let problem = IngestAddress.problem(options.object ?? [:], at: endpoint) {
        throw Failure("\(context.name) \(problem.what)", hint: problem.remedy)
    }
    var files: TLSFiles?
    if let certificate = options["certificateFile"].string, let key = options["keyFile"].string {
        files = TLSFiles(certificateFile: certificate, keyFile: key)
    }
    let identity = try files?.changed()
    let server = try HTTPServer(
        host: endpoint.host, port: endpoint.port,
        // If the usual port is taken, the next is tried, so two stacks can run side by side; a port that a person has
        // chosen is used as it is, or not at all.
        portTries: endpoint.port == IngestAddress.usualPort ? 20 : 1, limits: limits, tls: identity,
        admission: { door.admission(of: $0) })
    if server.port != endpoint.port, endpoint.port != 0 {
        log(.ingestMoved, ["wanted": endpoint.port, "port": server.port])
    }
    log(.ingestListening, ["port": server.port])

    let following = try FollowingOptions(options, environment: ProcessInfo.processInfo.environment)
    let standing = Mutex(following.map { IngestDetails.Following(address: $0.address) })
    let member = try BusMember(
        context,
        details: {
            var details = door.details(port: server.port)
            details.following = standing.withLock { $0 }
            return HeartbeatDetails(details)
        },
        subscriptions: [
            .exact(IngestReceipt.topic(context.name)), .exact(Heartbeat.topic(observer)),
            .exact(Heartbeat.topic(debouncer)),
        ],
        message: { message in
            if message.topic == Heartbeat.topic(observer) {
                return observerHeard.withLock { $0 = MonotonicClock.now }
            }
            if message.topic == Heartbeat.topic(debouncer) {
                return wakes.hear(Heartbeat(message)?.debouncer?.wakes ?? [])
            }
            if let receipt = message.body.read(IngestReceipt.self) { line.hear(receipt) }
        })
    place.withLock { $0 = member }
    let isOver = Mutex(false)
    if let following {
        let client = try HTTPClient(base: following.url, answerLimit: FollowingOptions.answerLimit)
        Thread.begin("follow") {
            var follower = Follower(
                address: following.address, line: line, token: { try following.token() },
                ask: { try client.send($0, timeout: $1.seconds) },
                notice: { notice in
                    switch notice {
                    case .taken(let samples): log(.ingestFollowed, ["samples": samples])
                    case .beginsAgain: log(.ingestFollowsAgain)
                    case .failed(let why, let pause):
                        log(.ingestFollowFailed, ["why": why, "seconds": Int(pause.seconds)])
                    case .recovered(let time):
                        log(.ingestFollowRecovered, ["seconds": Int(time.seconds)])
                    }
                })
            while !isOver.withLock({ $0 }) {
                let pause = follower.step()
                standing.withLock { $0 = follower.standing }
                if pause > .seconds(0) { Thread.sleep(forTimeInterval: pause.seconds) }
            }
        }
    }
    let stopped = DispatchSemaphore(value: 0)
    stopper.whenAsked { stopped.signal() }
    func saveUses() {
        uses.save { log(.ingestTokenUse, failed: true, ["why": "\($0)"]) }
    }
    while stopped.wait(timeout: .now() + 10) == .timedOut {
        saveUses()
        // A certificate is renewed every few weeks, without a restart.
        do {
            if let renewed = try files?.changed() { try server.renew(renewed) }
        } catch { log(.ingestCertificate, failed: true, ["why": "\(error)"]) }
    }
    isOver.withLock { $0 = true }
    server.stop()
    saveUses()
    handover.close()
    member.leave()
}

/// Which stack this one follows.
struct FollowingOptions {
    static let variable = "HEALTHBUS_FOLLOW_TOKEN"
    /// Far more than most answers need: one sample may come with the route of a long workout.
    static let answerLimit = 64 << 20

    let url: String
    private let file: String?
    private let secret: String?

    /// nil for none.
    /// - Throws: `Failure` when nothing says where the token is.
    init?(_ options: Value, environment: [String: String]) throws {
        guard let url = options["followUrl"].string else { return nil }
        self.url = url
        file = options["followTokenFile"].string
        secret = environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
        guard file != nil || secret != nil else {
            throw Failure(
                "'followUrl' needs the other stack's token",
                hint: "make one there with 'healthbus token new --scope read', write it into a file, and name the file "
                    + "in 'followTokenFile'; or set \(Self.variable)")
        }
    }

    /// The address as people may see it: without a name, a password or a query.
    var address: String {
        guard var parts = URLComponents(string: url) else { return "another stack" }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        return parts.string ?? "another stack"
    }

    /// Read each time, so that a new token takes effect at once.
    func token() throws -> String {
        if let secret { return secret }
        guard let token = file.flatMap({ TextFile.text($0) }) else {
            throw FollowProblem(
                "the token of the stack to follow can't be read",
                remedy: "check 'followTokenFile', and that the file is yours", isRefusal: true)
        }
        return token
    }
}
