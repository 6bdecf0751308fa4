import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import MessageBus
import Processes
import Protocol
import StageKit
import Supervisor
import Synchronization

/// `healthbus up`: starts every instance in order, watches them, imports, and stops all together.
package final class StackRunner: Sendable {
    package struct Options: Sendable {
        package var imports: [String]
        package var user: String?
        package var zone: String?
        /// A folder, absolute, out of which files are imported by themselves.
        package var inbox: String?
        package var untilIdle: Bool
        /// Where to answer questions about how the stack is; nil: as the configuration says.
        package var monitoring: Endpoint?
        /// Of the processes' log events only those from here up are passed on to standard error; their files have all.
        package var passesOn: Log.Level

        package init(
            imports: [String] = [], user: String? = nil, zone: String? = nil, inbox: String? = nil,
            untilIdle: Bool = false,
            monitoring: Endpoint? = nil, passesOn: Log.Level = .debug
        ) {
            self.imports = imports
            self.user = user
            self.zone = zone
            self.inbox = inbox
            self.untilIdle = untilIdle
            self.monitoring = monitoring
            self.passesOn = passesOn
        }
    }

    /// What a run came to.
    package struct Outcome: Sendable {
        package var imports: [ImportClient.Outcome] = []
        /// Everything delivered, every past day final.
        package var isIdle = false
        /// What blocks, for a person; nil when nothing does.
        package var blocked: String?
    }

    private struct State {
        var outcome = Outcome()
        var failure: Failure?
        /// Failures in a row of instances that have never been ready.
        var neverReady: [String: Int] = [:]
        var ready: Set<String> = []
        var relay: LogRelay?
        /// The address of the page that was told.
        var page: String?
    }

    /// An instance that ends this often before it has ever been ready can't start; going on trying would only hide why.
    private static let startAttempts = 3

    /// Seconds between looks for whether everything is done.
    private static let lookInterval = 0.05

    private let stack: Stack
    private let options: Options
    private let toldTo: @Sendable (String) -> Void
    private let whenIdle: (@Sendable (Outcome) throws -> Void)?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - say: a line for whoever watches.
    ///   - whenIdle: called once when everything is delivered; the stack then runs on, unless `untilIdle`.
    package init(
        _ stack: Stack, _ options: Options, say: @escaping @Sendable (String) -> Void,
        whenIdle: (@Sendable (Outcome) throws -> Void)? = nil
    ) {
        self.stack = stack
        self.options = options
        toldTo = say
        self.whenIdle = whenIdle
    }

    /// Runs until Ctrl-C, SIGTERM, idleness (where asked for) or a start that can't succeed; blocks the calling thread.
    /// - Throws: `Failure` for what keeps the stack from starting or going on.
    package func run() throws -> Outcome {
        try stack.requireSoundStructure()
        if let zone = options.zone {
            do { _ = try ZoneTimeline(zone: zone) } catch { throw Failure.usage("--zone: \(error)") }
        }
        for path in options.imports where !FileManager.default.isReadableFile(atPath: path) {
            let reason = FileManager.default.fileExists(atPath: path) ? "can't be read" : "doesn't exist"
            throw Failure("\(path) \(reason)", hint: "check the path and its rights")
        }
        let folders = [stack.state.path, stack.supervisorFolder, stack.state.sockets]
        for folder in folders + stack.names.map({ stack.state.instance($0) }) { try StateFolder.make(folder) }
        // One that was killed a moment ago takes its children with it.
        guard let lock = try InstanceLock.take(folder: stack.supervisorFolder, waiting: 1) else {
            let holder = InstanceLock.holder(folder: stack.supervisorFolder).map { " (process \($0))" } ?? ""
            throw Failure(
                "a stack runs already on \(stack.state.path)\(holder)",
                hint: "use it ('healthbus status'), stop it, or start another with --state")
        }
        defer {
            removeSockets()
            withExtendedLifetime(lock) {}
        }
        let zone = try ZoneChoice(stack, option: options.zone, user: options.user)
        for notice in try [zone.notice].compactMap({ $0 }) + FormerZone.atStart(of: stack, beginning: zone.beginning) {
            toldTo(stack.advice.addressed(notice))
        }
        try StackLayer(stack.state).remember(stack.configurationFile)
        if stack.configuration.only(.backend) != nil { try SecretFile.ensure(stack.state.backendToken) }

        let relay = try LogRelay(
            stack.configuration.instances.map { ($0.name, stack.state.log($0.name)) }, minimum: options.passesOn,
            say: toldTo)
        state.withLock { $0.relay = relay }
        defer { relay.finish() }
        let log = try SupervisorLog(path: stack.state.log("supervisor"))
        let running = Running()
        let processes = StackProcesses(
            state: stack.state, configurationFile: stack.configurationFile, catalog: stack.catalog, zone: options.zone,
            inbox: options.inbox)
        let swaps = SwapDirector(stack, processes)
        try stack.configuration.requireKeys(in: stack.state)
        let client = try StackClient(
            address: try stack.configuration.address(in: stack.state, as: KeyRole.supervisorName),
            beat: { running.heartbeat(swaps) }, pace: { running.pace },
            hears: (SwapDirector.subscriptions, { swaps.hear($0) }))
        defer { client.close() }
        let monitoring = try (options.monitoring ?? stack.configuration.monitoring).map { endpoint in
            try MonitoringServer(stack, client, at: endpoint)
        }
        defer { monitoring?.stop() }
        if let endpoint = monitoring?.endpoint { say("metrics  http://\(endpoint)/metrics") }
        let supervisor = try Supervisor(
            stack.configuration.instances.map { processes.spec($0) },
            isReady: { name, pid in
                client.heartbeats[name].map { $0.beat.pid == Int(pid) && $0.beat.phase == .ready } ?? false
            },
            onEvent: { [self] notice in
                log.note(notice)
                note(notice)
                if case .ready(let name) = notice { tellOfPage(name, client.heartbeats[name]?.beat) }
                swaps.note(notice)
                client.beat()
                if state.withLock({ $0.failure != nil }) { running.stop() }
            })
        running.set(supervisor)
        swaps.start(supervisor, said: { client.beat() })
        defer { swaps.stop() }
        let work = Thread { [self] in
            do { try accompany(client, running) } catch {
                state.withLock { $0.failure = error as? Failure ?? Failure("\(error)") }
                running.stop()
            }
        }
        work.name = "accompany"
        work.start()
        watchFolders(running)
        defer { running.set(nil) }
        try supervisor.run()
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.outcome
        }
    }

    /// By way of the relay: whoever doesn't read what is said holds up neither the processes nor their supervision.
    private func say(_ line: String) { state.withLock { $0.relay }?.say(line) }

    /// A hub that had to be killed leaves its sockets; one that somebody else runs keeps them.
    private func removeSockets() {
        guard stack.configuration.bus.endpoints == nil, let hub = stack.configuration.only(.hub),
            let lock = try? InstanceLock.take(folder: stack.state.instance(hub.name))
        else { return }
        stack.state.address.removeSocketFiles()
        withExtendedLifetime(lock) {}
    }

    /// Where the page is, once it can be seen; again only when it has moved.
    private func tellOfPage(_ name: String, _ beat: Heartbeat?) {
        guard let instance = DashboardAddress.instance(in: stack.configuration), instance.name == name,
            let port = beat?.dashboard?.dashboardPort, let endpoint = try? DashboardAddress.endpoint(of: instance)
        else { return }
        let url = DashboardAddress.url(endpoint, port: port)
        let isNew = state.withLock { state in
            defer { state.page = url }
            return state.page != url
        }
        if isNew { say("page   \(url)") }
    }

    private func note(_ notice: SupervisorNotice) {
        switch notice {
        case .ready(let name):
            let all = state.withLock { state in
                state.ready.insert(name)
                return state.ready.isSuperset(of: stack.names)
            }
            if all { say("all \(stack.names.count) processes are ready") }
        case .exited(let name, let status, _):
            say("\(notice)")
            state.withLock { state in
                guard !state.ready.contains(name) else { return }
                state.neverReady[name, default: 0] += 1
                // A configuration that is refused doesn't get better by trying again.
                let restart = stack.configuration.instance(name)?.manifest.restart ?? .always
                let attempts = restart.staysDown(afterSuccess: status.isSuccess) ? 1 : Self.startAttempts
                let hopeless = [ExitCode.usage, .damaged].first { status == .code($0.rawValue) }
                guard state.neverReady[name, default: 0] >= attempts || hopeless != nil else { return }
                state.failure = Failure(
                    "'\(name)' can't start; it says why above",
                    hint: hopeless == .damaged
                        ? "do what it says there and start again; nothing was changed"
                        : "mend that and start again; nothing is lost",
                    code: hopeless ?? .failed)
            }
        case .startFailed, .notReady, .killed, .gaveUp, .standbyEnded, .tookPlace: say("\(notice)")
        case .started, .restarting, .stopped, .stopping, .finished: return
        }
    }

    /// Beside the supervisor: stops all when what they write to is gone. What they took in from then on would be lost with the last of them.
    private func watchFolders(_ running: Running) {
        let thread = Thread { [self] in
            var watch = FolderWatch(stack.state, stack.configuration)
            while running.goesOn {
                // With the heartbeats of a resting stack: the machine wakes up once for all of them.
                let now = MonotonicClock.now
                Thread.sleep(forTimeInterval: (Repetition.next(Repetition.quiet, after: now) - now).seconds)
                guard let problem = watch.problem(ready: state.withLock { $0.ready }) else { continue }
                state.withLock { if $0.failure == nil { $0.failure = problem } }
                return running.stop()
            }
        }
        thread.name = "folders"
        thread.start()
    }

    /// Beside the supervisor: hands the files over, watches for idleness.
    private func accompany(_ client: StackClient, _ running: Running) throws {
        guard !options.imports.isEmpty || options.untilIdle || whenIdle != nil else { return }
        let imports = ImportClient(client: client, observer: stack.observer, hub: stack.hub)
        for path in options.imports {
            let outcome = try imports.run(path, user: options.user, within: 60)
            state.withLock { $0.outcome.imports.append(outcome) }
            if outcome.report == nil {
                throw Failure(
                    "\(path) couldn't be imported: \(outcome.problem ?? "")",
                    hint: "the stack and what it holds are as before")
            }
        }
        let closedHead = state.withLock { $0.outcome.imports.map(\.head).max() }
        var watch = IdleWatch(roles: .init(of: stack.configuration), closedHead: closedHead ?? .beginning)
        var heard = 0
        while true {
            // In an import heartbeats come by the dozen, and nearly all tell that there is more to come.
            Thread.sleep(forTimeInterval: Self.lookInterval)
            client.wait(forHeartbeatAfter: &heard, until: Date(timeIntervalSinceNow: 0.25))
            // An instance that can't start is told of by the supervisor; until all were ready, nothing is said to be done.
            let notReady = stack.names.filter { name in !state.withLock { $0.ready.contains(name) } }
            switch watch.judge(client.heartbeats, notReady: notReady, at: MonotonicClock.now) {
            case .waiting: continue
            case .blocked(let what):
                state.withLock { $0.outcome.blocked = what }
                if options.untilIdle { return running.stop() }
                say("blocked: \(what)")
                return
            case .idle:
                let outcome = state.withLock { state in
                    state.outcome.isIdle = true
                    return state.outcome
                }
                try whenIdle?(outcome)
                if options.untilIdle { running.stop() }
                return
            }
        }
    }
}

/// The supervisor while it runs, for the threads beside it.
private final class Running: Sendable {
    private struct Said {
        var details: SupervisorDetails?
        var repetition = Repetition(at: MonotonicClock.now)
    }

    private let supervisor = Mutex<Supervisor?>(nil)
    private let said = Mutex(Said())

    func set(_ new: Supervisor?) { supervisor.withLock { $0 = new } }
    func stop() { supervisor.withLock { $0 }?.stop() }
    var goesOn: Bool { supervisor.withLock { $0 } != nil }

    var pace: BusConnection.Pace {
        let now = MonotonicClock.now
        return said.withLock { $0.repetition.interval(at: now) } == Repetition.lively ? .lively : .quiet
    }

    /// What the supervisor says: its processes and how they are.
    func heartbeat(_ swaps: SwapDirector) -> Message? {
        guard let statuses = supervisor.withLock({ $0 })?.statuses else { return nil }
        let details = SupervisorDetails(
            processes: statuses.map { status in
                .init(
                    name: status.name, state: status.state.rawValue, pid: status.pid.map { Int($0) },
                    restarts: status.restarts, lastExit: status.lastExit.map { "\($0)" })
            }, swaps: swaps.all)
        said.withLock { said in
            if details != said.details { said.repetition.moved(at: MonotonicClock.now) }
            said.details = details
        }
        var beat = Heartbeat(
            instance: "supervisor", plugin: "supervisor", phase: .ready,
            pid: Int(ProcessInfo.processInfo.processIdentifier), details: HeartbeatDetails(details))
        ProcessUse.tell(&beat)
        return beat.message(at: WallClock.now)
    }
}
