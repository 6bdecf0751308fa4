import BackendStage
import Console
import Foundation
import HTTP
import HealthModel
import MessageBus
import PluginKit
import Synchronization
import Wire

/// Its place on the bus, between the threads that send and hear.
final class OwnPresence: Sendable {
    let state = Mutex(Presence(at: MonotonicClock.now))
}

PluginProgram.start("backend") { context, stopper in
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
    let backend = try Backend(
        databasePath: context.databasePath, token: token,
        audit: options["audit"].bool == true || environment["HEALTHBUS_AUDIT"] == "1",
        report: { log(.backendFailed, ["why": $0]) },
        rolledBack: { log(.backendRolledBack, ["seen": $0, "held": $1]) })
    var limits = HTTPServer.Limits()
    limits.connections = Int(options["connections"].int ?? 64)
    limits.connectionsPerAddress = Int(options["connectionsPerAddress"].int ?? 48)
    limits.bodyBytes = Int(options["bodyBytes"].int ?? 8 << 20)
    let server = try HTTPServer(
        host: BackendAddress.host(of: context.instance), port: try BackendAddress.port(of: context.instance),
        limits: limits, gate: { backend.refusal(of: $0) }
    ) { backend.handle($0) }
    log(.backendListening, ["port": server.port])

    // No stage, but a member of the stack: it says that it is there.
    let name = context.name
    let port = server.port
    let presence = OwnPresence()
    let bus = try BusConnection(
        address: context.address, subscriptions: [.exact(Heartbeat.topic(name))],
        handlers: .init(
            message: { _ in
                // Others hear it with the next heartbeat, a second later.
                presence.state.withLock { _ = $0.heardSelf(at: MonotonicClock.now) }
            },
            heartbeat: {
                presence.state.withLock { $0.said(at: MonotonicClock.now) }
                return Heartbeat(
                    instance: name, plugin: "backend", phase: "ready",
                    pid: Int(ProcessInfo.processInfo.processIdentifier),
                    memoryBytes: ProcessUse.memory, processorTime: ProcessUse.processorTime,
                    started: ProcessUse.started, details: ["port": .integer(Int64(port))]
                ).message(at: WallClock.now)
            },
            pace: { presence.state.withLock { $0.pace(at: MonotonicClock.now) } },
            answersHello: true,
            refused: { log(.busRefused, failed: true, ["why": $0]) },
            failed: { log(.busFailed, ["why": "\($0)"]) }))
    let stopped = DispatchSemaphore(value: 0)
    stopper.whenAsked { stopped.signal() }
    stopped.wait()
    server.stop()
    backend.close()
    bus.close()
}
