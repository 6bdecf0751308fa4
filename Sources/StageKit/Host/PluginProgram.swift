import CPosix
import Changelog
import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Logging
import MessageBus
import Protocol
import SQLite
import Synchronization
import Terminal

/// What a plugin's program knows once it has been started correctly: its name, its options, its folder, its lock.
package struct PluginContext: Sendable {
    package let state: StateFolder
    package let stack: StackConfiguration
    package let instance: StackConfiguration.Instance
    package let log: StageLog
    /// The request that it was started to carry out instead of running, for a stage that isn't running.
    let request: MendRequest?

    package var name: String { instance.name }
    package var configuration: Value { instance.configuration }
    package var folder: String { scratch ?? state.instance(name) }
    package var databasePath: String { scratch.map { $0 + "/state.sqlite" } ?? state.database(name) }
    /// Where a program that is only being checked keeps the files that would go into its folder.
    fileprivate(set) var scratch: String?
    /// The bus, with this instance's keys if it is sealed.
    package let address: BusAddress
}

/// A stage, and the parts of its program outside the stage itself.
package struct StageParts {
    package var stage: any Stage
    package var effects: (any EffectRunner)?
    /// Does, without the lock, some of the work of the process that it is to replace, and compares the results.
    package var trial: ((_ database: String, StackClient) throws -> TrialReport)?
    /// Makes the source that answers pulls, on its own thread with its own read-only connection.
    package var source: @Sendable (Database) throws -> any PullSource

    package init(
        stage: any Stage, effects: (any EffectRunner)? = nil,
        trial: ((_ database: String, StackClient) throws -> TrialReport)? = nil,
        source: @escaping @Sendable (Database) throws -> any PullSource = { ChangelogSource(database: $0) }
    ) {
        self.stage = stage
        self.effects = effects
        self.trial = trial
        self.source = source
    }
}

/// The `main` of every plugin: reads its arguments, checks its configuration, makes its parts, takes its lock, runs,
/// and drains on SIGTERM.
package enum PluginProgram {
    /// Runs a stage until SIGTERM or SIGINT; ends the process.
    package static func run(_ plugin: String, _ make: @escaping (PluginContext) throws -> StageParts) -> Never {
        start(plugin, prepare: make, check: check, rehearse: rehearse) { parts, context, stopper in
            let database = try StageDatabase(path: context.databasePath, now: WallClock.now)
            let effects = MendingEffects(
                parts.effects, database: context.databasePath, root: context.state.backups)
            let stage = MendingStage(parts.stage, instance: context.name)
            if let request = context.request {
                defer { effects.stop() }
                let bench = MendingBench(stage, database, effects, context.log)
                StandardStream.output.write(Value(try bench.run(request, stopper)).json() + "\n")
                return
            }
            let host = StageHost(
                instance: context.name, plugin: context.instance.manifest.name,
                configuration: context.instance.fingerprint, log: context.log)
            stopper.whenAsked { host.stop() }
            let path = context.databasePath
            let source = parts.source
            try host.run(
                stage: stage, database: database, address: context.address, effects: effects,
                source: {
                    let reader = try Database(path: path, mode: .readOnly)
                    return (reader, try source(reader))
                })
        }
    }

    /// For plugins that aren't stages (hub, backend): does everything around `body`; the lock is held while it runs.
    package static func start(_ plugin: String, _ body: (PluginContext, Stopper) throws -> Void) -> Never {
        start(plugin, prepare: { _ in () }, check: { _, _, _ in nil }, rehearse: { _, _ in }) { _, context, stopper in
            try body(context, stopper)
        }
    }

    /// Checks what can be known about a stage before it has the lock: whether it recognises the file, and the result of
    /// its trial.
    private static func check(_ parts: StageParts, _ context: PluginContext, _ client: StackClient) throws
        -> TrialReport?
    {
        if FileManager.default.fileExists(atPath: context.databasePath) {
            try StageDatabase.requireKnownSchema(in: Database(path: context.databasePath, mode: .readOnly))
        }
        return try parts.trial?(context.databasePath, client)
    }

    private static func start<Prepared>(
        _ plugin: String, prepare: (PluginContext) throws -> Prepared,
        check: (Prepared, PluginContext, StackClient) throws -> TrialReport?,
        rehearse: (Prepared, PluginContext) throws -> Void,
        body: (Prepared, PluginContext, Stopper) throws -> Void
    ) -> Never {
        let program = "healthbus-\(plugin)"
        do {
            // Before any thread starts: otherwise glibc would keep an arena of up to 64 MB for each.
            _ = healthbus_limit_arenas(2)
            Standby.blockSignal()
            let stopper = try Stopper()
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()), for: help(plugin))
            if arguments.wantsHelp {
                let terminal = Terminal(.output)
                StandardStream.output.write(help(plugin).render(width: terminal.isTerminal ? terminal.width : nil))
                exit(ExitCode.done.rawValue)
            }
            if arguments.flag("--check") {
                exit(StartCheck.end { try self.check(plugin, arguments, prepare, rehearse) }.rawValue)
            }
            let context = try context(plugin, arguments)
            for folder in [context.state.path, context.folder, context.state.sockets] { try StateFolder.make(folder) }
            let prepared: Prepared
            let lock: InstanceLock
            if let swap = arguments.value("--swap") {
                // A standby holds nothing that has to be released.
                stopper.whenAsked { exit(ExitCode.done.rawValue) }
                let standby = try Standby(context, swap: swap)
                prepared = try standby.prepare {
                    let prepared = try prepare(context)
                    let trial = try check(prepared, context, standby.client)
                    if let trial { try TrialFile(folder: context.folder).write(trial.changes, swap: swap) }
                    return (prepared, trial)
                }
                context.log(.instanceStandby)
                standby.wait()
                lock = try self.lock(context, arguments, stopper)
                standby.client.close()
            } else {
                prepared = try prepare(context)
                lock = try self.lock(context, arguments, stopper)
            }
            context.log(.instanceStarted, ["pid": ProcessInfo.processInfo.processIdentifier])
            try body(prepared, context, stopper)
            context.log(.instanceStopped)
            withExtendedLifetime(lock) {}
            exit(ExitCode.done.rawValue)
        } catch {
            reportAndExit(advice.addressed(DamagedState.failure(of: error) ?? Failure(of: error)), program: program)
        }
    }

    /// Makes every check that can fail before the lock is taken, on a temporary folder; for `healthbus validate`.
    private static func check<Prepared>(
        _ plugin: String, _ arguments: Arguments, _ prepare: (PluginContext) throws -> Prepared,
        _ rehearse: (Prepared, PluginContext) throws -> Void
    ) throws {
        var context = try context(plugin, arguments)
        let scratch = FileManager.default.temporaryDirectory.path + "/healthbus-check-" + UUID().uuidString
        try StateFolder.make(scratch)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        context.scratch = scratch
        try rehearse(try prepare(context), context)
    }

    /// Opens the stage on an empty file, as on its first start.
    private static func rehearse(_ parts: StageParts, _ context: PluginContext) throws {
        let database = try StageDatabase(path: context.databasePath, now: WallClock.now)
        defer { parts.effects?.stop() }
        try MendingBench(MendingStage(parts.stage, instance: context.name), database, nil, context.log).open()
    }

    /// Makes the commands that this program advises name its stack.
    private static var advice: Advice {
        let words = CommandLine.arguments
        func value(_ option: String) -> String? {
            words.lastIndex(of: option).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        }
        return Advice(state: value("--state"), configuration: value("--config"), started: value("--config"))
    }

    static func help(_ plugin: String) -> CommandHelp {
        CommandHelp(
            name: "healthbus-\(plugin)", summary: "Runs the \(plugin) plugin of a healthbus stack, in the foreground.",
            options: [
                .init("--state", value: "folder", help: "the stack's state folder"),
                .init("--config", value: "file", help: "the stack's configuration"),
                .init("--instance", value: "name", help: "which instance to run as (default: \(plugin))"),
                .init("--standby", help: "wait for the running instance to end instead of giving up"),
                .init("--takeover", help: "end the running instance and take its place"),
                .init("--plugin", value: "name|folder", help: "which plugin the instance is, whatever is configured"),
                .init(
                    "--swap", value: "id",
                    help: "stand by without the lock, be tried, and take over on SIGUSR1; for 'up'"),
                .init(
                    "--check",
                    help: "only check whether it could start: print nothing, or what is wrong as JSON; for 'validate'"),
                .init("--mend", value: "request", help: "do what this JSON asks for, print the result, and end"),
            ],
            examples: ["healthbus-\(plugin) --state /var/lib/healthbus"])
    }

    private static func context(_ plugin: String, _ arguments: Arguments) throws -> PluginContext {
        let catalog = try PluginCatalog.standard()
        let name = arguments.value("--instance") ?? plugin
        let state = arguments.value("--state").map { StateFolder(path: $0) } ?? .standard()
        let choice = arguments.value("--plugin").map { [name: StackConfiguration.Choice.plugin($0)] }
        let stack = try StackConfiguration(
            path: StackConfiguration.file(given: arguments.value("--config")), state: state, choices: choice ?? [:],
            catalog: catalog)
        guard let instance = stack.instance(name) else {
            throw ConfigurationError(file: stack.file, key: "instances", reason: "has no '\(name)'")
        }
        // The manifest may give the executable's path; its file name shows the plugin.
        guard instance.manifest.executable.split(separator: "/").last == "healthbus-\(plugin)" else {
            throw ConfigurationError(
                file: stack.file, key: "instances.\(name).plugin",
                reason: "is '\(instance.manifest.name)', whose program is \(instance.manifest.executable);"
                    + " this is healthbus-\(plugin)")
        }
        let request = try arguments.value("--mend").map { text in
            guard let request = MendRequest(try Value(json: Array(text.utf8))) else {
                throw Failure.usage(
                    "--mend isn't a request", hint: "commands such as 'healthbus reset steps --yes' give it")
            }
            return request
        }
        // The hub has a guest list instead of a key that admits it.
        let isHub = instance.manifest.kind == .hub
        return PluginContext(
            state: state, stack: stack, instance: instance,
            log: try StageLog.standard(name, file: arguments.flag("--check") ? "/dev/null" : state.log(name)),
            request: request,
            address: isHub ? stack.bus.endpoints ?? state.address : try stack.address(in: state, as: name))
    }

    private static func lock(_ context: PluginContext, _ arguments: Arguments, _ stopper: Stopper) throws
        -> InstanceLock
    {
        if arguments.flag("--takeover") { return try InstanceLock.takeOver(folder: context.folder, grace: 5) }
        // A holder that is just about to end is given a moment, since its supervisor may have been killed at the same
        // time.
        if let lock = try InstanceLock.take(folder: context.folder, waiting: 2) { return lock }
        guard arguments.flag("--standby") else {
            let holder = InstanceLock.holder(folder: context.folder).map { " (process \($0))" } ?? ""
            throw Failure(
                "'\(context.name)' is already running in \(context.state.path)\(holder)",
                hint: "stop that one, or start this one with --standby or --takeover")
        }
        context.log(.instanceStandby)
        while !stopper.isAsked {
            if let lock = try InstanceLock.take(folder: context.folder, waiting: 0.5) { return lock }
        }
        exit(ExitCode.done.rawValue)
    }
}

/// Hears SIGTERM and SIGINT.
package final class Stopper: Sendable {
    private struct State {
        var asked = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() throws {
        let descriptor = healthbus_catch_signals()
        guard descriptor >= 0 else {
            throw Failure("can't listen for signals: \(String(cString: strerror(-descriptor)))")
        }
        let thread = Thread { [self] in
            var signal: UInt8 = 0
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while true {
                _ = poll(&waiting, 1, -1)
                guard read(descriptor, &signal, 1) == 1 else { continue }
                let action = state.withLock { state in
                    state.asked = true
                    return state.action
                }
                action?()
            }
        }
        thread.name = "signals"
        thread.start()
    }

    /// Blocks the calling thread until the process is asked to stop.
    package func wait() {
        let asked = DispatchSemaphore(value: 0)
        whenAsked { asked.signal() }
        asked.wait()
    }

    package var isAsked: Bool { state.withLock { $0.asked } }

    /// Calls `action` when the process is asked to stop; at once if it already was.
    package func whenAsked(_ action: @escaping @Sendable () -> Void) {
        let already = state.withLock { state in
            state.action = action
            return state.asked
        }
        if already { action() }
    }
}
