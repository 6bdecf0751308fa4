import BackendStage
import Configuration
import Foundation
import HTTP
import HealthModel
import HealthViews
import Logging
import MessageBus
import Protocol
import StageKit

/// Whether acceptances are counted.
func audits(_ options: Value) -> Bool {
    options["audit"].bool == true || ProcessInfo.processInfo.environment["HEALTHBUS_AUDIT"] == "1"
}

PluginProgram.start(
    "backend",
    prepare: { context in
        let url = try postgresURL(context.configuration, ProcessInfo.processInfo.environment)
        guard url == nil || !audits(context.configuration) else {
            throw Failure("acceptances can't be counted on PostgreSQL", hint: "leave out 'audit'")
        }
        return url
    }
) { url, context, stopper in
    let options = context.configuration
    let environment = ProcessInfo.processInfo.environment
    let secret: String
    if let token = environment["HEALTHBUS_BACKEND_TOKEN"], !token.isEmpty {
        secret = token
    } else {
        let file = options["tokenFile"].string ?? context.state.backendToken
        if options["tokenFile"].isNull { try SecretFile.ensure(file) }
        secret = try SecretFile.read(file)
    }
    guard let token = SecretToken(secret) else {
        throw Failure("the backend's token is empty", hint: "write one into its file, or set HEALTHBUS_BACKEND_TOKEN")
    }
    let log = context.log
    let notices = BackendNotices(
        failed: { log(.backendFailed, ["why": $0]) },
        rolledBack: { log(.backendRolledBack, ["seen": $0, "held": $1]) },
        rowsMissing: { log(.backendRowsMissing, ["missing": $0]) })
    let views = HealthViews(figures: context.stack.figures)
    let backend: Backend
    if let url {
        backend = try Backend(
            postgresURL: url, schema: options["postgresSchema"].string ?? "healthbus", token: token,
            families: context.stack.families, views: views, notices: notices)
    } else {
        backend = try Backend(
            databasePath: context.databasePath, token: token, families: context.stack.families, views: views,
            audit: audits(options), notices: notices)
    }
    var limits = HTTPServer.Limits()
    limits.connections = Int(options["connections"].int ?? 64)
    limits.connectionsPerAddress = Int(options["connectionsPerAddress"].int ?? 48)
    limits.bodyBytes = Int(options["bodyBytes"].int ?? 8 << 20)
    let server = try HTTPServer(
        host: BackendAddress.host(of: context.instance), port: try BackendAddress.port(of: context.instance),
        limits: limits, gate: { backend.refusal(of: $0) }
    ) { backend.handle($0) }
    log(.backendListening, ["port": server.port])

    // This isn't a stage, but it belongs to the stack and reports that it is running.
    let details = HeartbeatDetails(BackendDetails(port: server.port))
    let member = try BusMember(context, details: { details })
    let stopped = DispatchSemaphore(value: 0)
    stopper.whenAsked { stopped.signal() }
    var absence = Absence()
    while stopped.wait(timeout: .now() + absence.lookAfter) == .timedOut,
        !absence.isOver(isThere: backend.keepsWhatItTakes)
    {}
    server.stop()
    backend.close()
    member.leave()
    if absence.isEndless {
        throw Failure(
            "\(context.databasePath) was removed or replaced while the backend ran; it has stopped, and accepted "
                + "nothing since then that it couldn't keep",
            hint: "put it back, or restore a backup with 'healthbus restore BACKUP', then start it again; "
                + "if this was intended, just start it again: everything is delivered to it once more")
    }
}

/// The URL of the PostgreSQL database; nil when the database is a file.
func postgresURL(_ options: Value, _ environment: [String: String]) throws -> String? {
    if let url = environment["HEALTHBUS_BACKEND_POSTGRES_URL"], !url.isEmpty { return url }
    return try options["postgresUrlFile"].string.map { try SecretFile.read($0) }
}

/// How long the database has been missing from its place. Nothing is accepted in the meantime.
struct Absence {
    private var looks = 0
    private(set) var isEndless = false
    /// The number of consecutive checks, one per second, that must fail before the backend stops. By then a stack's
    /// supervisor has noticed the loss too, and stops everything with a single message.
    private static let limit = 10

    /// Seconds until the next check. There is no hurry while the file is there, because each request checks it too.
    var lookAfter: Double { looks == 0 ? Repetition.quiet.seconds : 1 }

    mutating func isOver(isThere: Bool) -> Bool {
        looks = isThere ? 0 : looks + 1
        isEndless = looks >= Self.limit
        return isEndless
    }
}
