import CPosix
import Changelog
import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Logging
import Protocol
import SQLite
import Terminal

/// The `main` of every plugin: reads its arguments, checks its configuration, makes its parts, takes its lock, runs,
/// and drains on SIGTERM.
package enum PluginProgram {
    /// Runs a stage until SIGTERM or SIGINT; ends the process.
    package static func run(_ plugin: String, _ make: @escaping (PluginContext) throws -> StageParts) -> Never {
        start(plugin, prepare: make, check: check, isOther: { try $0.isOther($1.databasePath) }, rehearse: rehearse) {
            parts, context, stopper in
            let database = try StageDatabase(path: context.databasePath)
            let effects = RepairEffects(
                parts.effects, database: context.databasePath, root: context.state.backups)
            let stage = RepairStage(parts.stage, instance: context.name)
            if let request = context.request {
                defer { effects.stop() }
                let bench = RepairBench(stage, database, effects, context.log)
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

    /// For plugins that aren't stages (hub, ingest, dashboard, backend): does everything around `body`; the lock is
    /// held while it runs.
    package static func start(_ plugin: String, _ body: (PluginContext, Stopper) throws -> Void) -> Never {
        start(plugin, prepare: { _ in () }) { try body($1, $2) }
    }

    /// - Parameter prepare: reads the options, and throws for those that it can't start with, so that `validate` says so
    ///   too; it changes nothing.
    package static func start<Prepared>(
        _ plugin: String, prepare: (PluginContext) throws -> Prepared,
        _ body: (Prepared, PluginContext, Stopper) throws -> Void
    ) -> Never {
        start(
            plugin, prepare: prepare, check: { _, _, _ in nil }, isOther: { _, _ in false }, rehearse: { _, _ in },
            body: body)
    }

    /// Checks what can be checked about a stage before it has the lock: whether it recognizes the file, and the result
    /// of its trial.
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
        isOther: (Prepared, PluginContext) throws -> Bool,
        rehearse: (Prepared, PluginContext) throws -> Void,
        body: (Prepared, PluginContext, Stopper) throws -> Void
    ) -> Never {
        let program = "healthbus-\(plugin)"
        var isObserver: Bool?
        do {
            // Must come before any thread starts: otherwise glibc would keep an arena of up to 64 MB for each.
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
            isObserver = context.instance.manifest.kind == .observer
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
                // A trial holds nothing that has to be released.
                stopper.whenAsked { exit(ExitCode.done.rawValue) }
                if let id = arguments.value("--try") {
                    try Trial(id: id, context).print { try check(prepared, context, $0) }
                    exit(ExitCode.done.rawValue)
                }
                if context.request == nil, try isTried(arguments, isOther: isOther(prepared, context)) {
                    try Trial(context).require { try check(prepared, context, $0) }
                }
                stopper.whenAsked {}
                lock = try self.lock(context, arguments, stopper)
            }
            context.log(.instanceStarted, ["pid": ProcessInfo.processInfo.processIdentifier])
            try body(prepared, context, stopper)
            context.log(.instanceStopped)
            withExtendedLifetime(lock) {}
            exit(ExitCode.done.rawValue)
        } catch {
            let failure = DamagedState.failure(of: error, isObservers: isObserver) ?? Failure(of: error)
            reportAndExit(advice.addressed(failure), program: program)
        }
    }

    /// Whether it is tried out before it takes the place of what ran before: if a person chose it, and it isn't what
    /// computed everything so far. A version doesn't prove that: of two plugins with the same name, one may be a copy.
    /// - Parameter isOther: reads the file, so it is asked only where a person chose.
    private static func isTried(_ arguments: Arguments, isOther: @autoclosure () throws -> Bool) rethrows -> Bool {
        guard !arguments.flag("--force") else { return false }
        let takesOver = arguments.flag("--takeover")
        guard arguments.value("--plugin") != nil else { return try takesOver && isOther() }
        return try takesOver || arguments.flag("--standby") || isOther()
    }

    /// Runs, in a temporary folder, every check that can fail before the lock is taken; for `healthbus validate`.
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
        let database = try StageDatabase(path: context.databasePath)
        defer { parts.effects?.stop() }
        try RepairBench(RepairStage(parts.stage, instance: context.name), database, nil, context.log).open()
    }

    /// The options that a suggested command needs in order to refer to this program's stack.
    private static var advice: Advice { Advice(words: CommandLine.arguments) }

    static func help(_ plugin: String) -> CommandHelp {
        CommandHelp(
            name: "healthbus-\(plugin)", summary: "Runs the \(plugin) plugin of a healthbus stack, in the foreground.",
            options: [
                .init("--state", value: "folder", help: "the stack's state folder"),
                .init("--config", value: "file", help: "the stack's configuration"),
                .init("--instance", value: "name", help: "which instance to run as (default: \(plugin))"),
                .init("--standby", help: "wait for the running instance to end instead of giving up"),
                .init("--takeover", help: "end the running instance and take its place"),
                .init("--force", help: "without trying out another plugin first"),
                .init("--plugin", value: "name|folder", help: "the plugin to run, whatever is configured"),
                .init(
                    "--swap", value: "id",
                    help: "stand by without the lock, run a trial, and take over on SIGUSR1; for 'up'"),
                .init("--try", value: "id", help: "only run a trial, and print its report as JSON; for 'swap'"),
                .init(
                    "--check",
                    help: "only check whether it could start: print what is wrong as JSON, or nothing; for 'validate'"),
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
        // The manifest may give the executable's path; its file name identifies the plugin.
        guard instance.manifest.executable.split(separator: "/").last == "healthbus-\(plugin)" else {
            throw ConfigurationError(
                file: stack.file, key: "instances.\(name).plugin",
                reason: "is '\(instance.manifest.name)', whose program is \(instance.manifest.executable);"
                    + " this is healthbus-\(plugin)")
        }
        let request = try arguments.value("--mend").map { text in
            guard let request = RepairRequest(try Value(json: Array(text.utf8))) else {
                throw Failure.usage(
                    "--mend isn't a valid request", hint: "commands such as 'healthbus reset steps --yes' supply it")
            }
            return request
        }
        // The hub needs no key to be admitted; instead, it has a list of whom to admit.
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
        // A lock holder that is about to end is given a moment, since its supervisor may have been killed at the same
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
