import Client
import Clocks
import Configuration
import Doctor
import Foundation
import HealthModel
import Inspection
import Logging
import MessageBus
import Monitoring
import Processes
import Protocol
import StageKit
import Supervisor
import Synchronization
import Terminal

/// `healthbus up`: starts every instance in order, watches them all, imports files, and stops everything together.
package final class StackRunner: Sendable {
    package struct Options: Sendable {
        package var imports: [String] = []
        package var user: String?
        package var zone: String?
        /// The absolute path of a folder from which files are imported automatically.
        package var inbox: String?
        package var untilIdle = false
        /// The address at which to answer questions about the state of the stack; nil for the configured one.
        package var monitoring: Endpoint?
        /// Only log events of this level or above are passed on to standard error; the processes' log files contain all
        /// of them.
        package var passesOn = Log.Level.debug
        /// Import files even though this mixes made-up data with a person's.
        package var mixesMadeUp = false
        /// Whether the lowest line of the terminal shows what the stack is doing.
        package var showsSummary = false

        package init() {}
    }

    /// The result of a run.
    package struct Outcome: Sendable {
        package var imports: [ImportClient.Outcome] = []
        /// Whether everything is delivered, and every past day is final.
        package var isIdle = false
        /// Where that delivery is taken on trust.
        package var trust = TrustedDestinations()
        /// What is blocking the stack, in words; nil when nothing is.
        package var blocked: String?
    }

    struct State {
        var outcome = Outcome()
        var failure: Failure?
        /// Consecutive failures of instances that have never been ready.
        var neverReady: [String: Int] = [:]
        var ready: Set<String> = []
        var relay: LogRelay?
        /// The last address printed for the page.
        var page: String?
    }

    /// An instance that ends this many times without ever having been ready can't start; further attempts would only
    /// hide the reason.
    private static let startAttempts = 3

    let stack: Stack
    let options: Options
    private let notify: @Sendable (String) -> Void
    private let passOn: @Sendable (String) -> Void
    let whenIdle: (@Sendable (Outcome) throws -> Void)?
    let state = Mutex(State())

    /// - Parameters:
    ///   - say: receives a line for whoever is watching.
    ///   - passOn: receives a line of a process's log.
    ///   - whenIdle: called once when everything is delivered; the stack then keeps running, unless `untilIdle` is set.
    ///     If something blocks the stack before that, it is never called.
    package init(
        _ stack: Stack, _ options: Options, say: @escaping @Sendable (String) -> Void,
        passOn: @escaping @Sendable (String) -> Void = { LiveLine.error.say($0) },
        whenIdle: (@Sendable (Outcome) throws -> Void)? = nil
    ) {
        (self.stack, self.options, notify, self.passOn, self.whenIdle) = (stack, options, say, passOn, whenIdle)
    }

    /// Runs until Ctrl-C, SIGTERM or idleness (if requested), or until it turns out that the stack can't start. Blocks
    /// the calling thread.
    /// - Throws: `Failure` for whatever keeps the stack from starting or continuing.
    package func run() throws -> Outcome {
        try checkRequest()
        let lock = try takeFolder()
        defer {
            removeSockets()
            withExtendedLifetime(lock) {}
        }
        try prepareFolders()
        let relay = try relayLogs()
        defer { relay.finish() }
        let log = try SupervisorLog(path: stack.state.log("supervisor"))
        let processes = StackProcesses(
            state: stack.state, configurationFile: stack.configurationFile, catalog: stack.catalog, zone: options.zone,
            inbox: options.inbox)
        let running = try Running(stack, processes)
        let client = try connect(running)
        defer { client.close() }
        let metrics = try monitoring.map { try MonitoringServer(stack, client, at: $0) }
        defer { metrics?.stop() }
        if let endpoint = metrics?.endpoint { say("metrics  http://\(endpoint)/metrics") }
        let supervisor = try supervisor(of: processes, client, running, log)
        running.start(supervisor, client)
        defer { running.end() }
        for name in running.director.stopped.sorted() {
            say(stack.advice.addressed("'\(name)' was stopped, so it stays down; 'healthbus start \(name)' starts it"))
        }
        startAccompanying(client, running)
        watchFolders(running)
        if options.showsSummary { summarize(client, running) }
        try supervisor.run()
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.outcome
        }
    }

    // MARK: The steps of a run, in their order

    private func checkRequest() throws {
        try stack.requireSoundStructure()
        if let zone = options.zone { try ZoneName.require(zone) }
        for path in options.imports where !FileManager.default.isReadableFile(atPath: path) {
            let reason = FileManager.default.fileExists(atPath: path) ? "can't be read" : "doesn't exist"
            throw Failure("\(path) \(reason)", hint: "check the path and its permissions")
        }
    }

    private func takeFolder() throws -> InstanceLock {
        for folder in [stack.state.path, stack.supervisorFolder] { try StateFolder.make(folder) }
        // The supervisor of a stack that is being stopped may still be ending.
        guard let lock = try InstanceLock.take(folder: stack.supervisorFolder, waiting: 1) else {
            throw stack.occupied
        }
        return lock
    }

    /// Makes the folders, and keeps in them what the processes and later commands look up there.
    private func prepareFolders() throws {
        try StartGuard(stack: stack, monitoring: monitoring).check()
        for folder in [stack.state.sockets] + stack.names.map({ stack.state.instance($0) }) {
            try StateFolder.make(folder)
        }
        let zone = try ZoneChoice(stack, option: options.zone, user: options.user)
        let notices =
            try [zone.notice].compactMap { $0 } + FormerZone.atStart(of: stack, beginning: zone.beginning)
            + FormerDestinations.notices(in: stack.state, besides: stack.names)
        for notice in notices { notify(stack.advice.addressed(notice)) }
        try StackLayer(stack.state).remember(
            stack.configurationFile,
            StartOptions(
                inbox: options.inbox, metrics: options.monitoring?.description,
                environment: ProcessInfo.processInfo.environment,
                folders: Set(stack.declarations.filter { $0.kind == .folder }.compactMap(\.variable))))
        if stack.configuration.only(.backend) != nil { try SecretFile.ensure(stack.state.backendToken) }
    }

    private func relayLogs() throws -> LogRelay {
        let relay = try LogRelay(
            stack.configuration.instances.map { ($0.name, stack.state.log($0.name)) }, minimum: options.passesOn,
            passOn: passOn, say: notify)
        state.withLock { $0.relay = relay }
        return relay
    }

    private func connect(_ running: Running) throws -> StackClient {
        try stack.configuration.requireKeys(in: stack.state)
        return try StackClient(
            address: try stack.configuration.address(in: stack.state, as: KeyRole.supervisorName),
            beat: { running.heartbeat }, pace: { running.pace },
            hears: (
                SwapDirector.subscriptions,
                { message in
                    running.swaps.hear(message)
                    running.director.hear(message)
                }
            ))
    }

    private func supervisor(
        of processes: StackProcesses, _ client: StackClient, _ running: Running, _ log: SupervisorLog
    ) throws -> Supervisor {
        try Supervisor(
            stack.configuration.instances.map { processes.spec($0) }, held: running.director.stopped,
            isReady: { name, pid in
                client.heartbeats[name].map { $0.beat.pid == Int(pid) && $0.beat.phase == .ready } ?? false
            },
            onEvent: { [self] notice in
                log.note(notice)
                note(notice, running.director)
                if case .ready(let name) = notice { reportPage(name, client.heartbeats[name]?.beat) }
                running.swaps.note(notice)
                client.beat()
                if state.withLock({ $0.failure != nil }) { running.stop() }
            })
    }

    /// The address at which to answer questions; nil for none.
    private var monitoring: Endpoint? { options.monitoring ?? stack.configuration.monitoring }

    /// Prints through the relay, so that a reader that stops reading holds up neither the processes nor their
    /// supervision.
    func say(_ line: String, then: @escaping @Sendable () -> Void = {}) {
        state.withLock { $0.relay }?.say(line, then: then)
    }

    /// Removes the sockets left by a hub that had to be killed; if somebody else's hub is running, they stay.
    private func removeSockets() {
        guard stack.configuration.bus.endpoints == nil, let hub = stack.configuration.only(.hub),
            let lock = try? InstanceLock.take(folder: stack.state.instance(hub.name))
        else { return }
        stack.state.address.removeSocketFiles()
        withExtendedLifetime(lock) {}
    }

    /// Prints the page's address once the page can be seen, and again only if the address has changed.
    private func reportPage(_ name: String, _ beat: Heartbeat?) {
        guard let instance = stack.configuration.only(.dashboard), instance.name == name,
            let port = beat?.dashboard?.dashboardPort, let endpoint = try? ServerPort.dashboard.endpoint(of: instance)
        else { return }
        let url = DashboardAddress.url(endpoint, port: port)
        let isNew = state.withLock { state in
            defer { state.page = url }
            return state.page != url
        }
        guard isNew else { return }
        guard !DashboardAddress.isOpen(instance.configuration) else { return say("page   \(url)") }
        // Only a person's own terminal shows a link that lets its reader in: others may read a file or a journal. If no
        // ticket can be made, 'healthbus open' says why.
        let isSeen = Terminal(.output).isTerminal && Terminal(.error).isTerminal
        guard isSeen, let ticket = try? SignInTickets(stack.state).make(now: WallClock.now) else {
            return say(stack.advice.addressed("page   \(url) ('healthbus open' signs a browser in)"))
        }
        say("page   \(DashboardAddress.link(url, ticket: ticket))")
        say(stack.advice.addressed("       (signs one browser in, within a minute; later, 'healthbus open' does)"))
    }

    private func note(_ notice: SupervisorNotice, _ director: ProcessDirector) {
        switch notice {
        case .ready(let name):
            let wanted = Set(stack.names).subtracting(director.stopped)
            let all = state.withLock { state in
                guard state.ready.insert(name).inserted else { return false }
                return state.ready.isSuperset(of: wanted)
            }
            guard all else { return }
            // A caller that waits for the notice reads the output up to here.
            say(
                wanted.count == stack.names.count
                    ? "all \(stack.names.count) processes are ready"
                    : "\(wanted.count) of \(stack.names.count) processes are ready; the others are stopped",
                then: { ReadinessNotice.send() })
        case .exited(let name, let status, _):
            say("\(notice)")
            state.withLock { state in
                guard !state.ready.contains(name) else { return }
                state.neverReady[name, default: 0] += 1
                // Trying a refused configuration again is pointless.
                let restart = stack.configuration.instance(name)?.manifest.restart ?? .always
                let attempts = restart.staysDown(afterSuccess: status.isSuccess) ? 1 : Self.startAttempts
                let hopeless = [ExitCode.usage, .damaged].first { status == .code($0.rawValue) }
                guard state.neverReady[name, default: 0] >= attempts || hopeless != nil else { return }
                state.failure = Failure(
                    "'\(name)' couldn't start; the reason is above",
                    hint: hopeless == .damaged
                        ? "do as it says there and start again; nothing was changed"
                        : "fix that and start again; nothing is lost",
                    code: hopeless ?? .failed)
            }
        case .standbyEnded(_, _, _, wasDismissed: true): return
        case .startFailed, .notReady, .killed, .gaveUp, .standbyEnded, .tookPlace: say("\(notice)")
        case .started, .restarting, .stopped, .stopping, .finished: return
        }
    }
}
