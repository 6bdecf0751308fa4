import Changelog
import Client
import Configuration
import DeliveryKit
import Foundation
import HealthModel
import Logging
import MessageBus
import ObserverReading
import SQLite
import StageKit
import Terminal

/// The stack that a command concerns: its folder, its configuration, its plugins.
package struct Stack: Sendable {
    package let state: StateFolder
    package let configuration: StackConfiguration
    package let configurationFile: String?
    package let catalog: PluginCatalog
    /// The options that suggested commands need in order to refer to this stack.
    package var advice = Advice()
    /// The instance that a command asks to do something; nil for a command that only shows data.
    package var acting: String?
    /// The mistakes in the configuration that a command may overlook (`init(watching:configurationFile:)`).
    package private(set) var overlooked: [ConfigurationError] = []

    /// - Parameter choices: plugins that override the state folder's, by instance.
    /// - Throws: `ConfigurationError` with the file, the key and what is allowed; if there are several, a `Failure`
    ///   that lists them.
    package init(
        state: String?, configurationFile: String?, choices: [String: StackConfiguration.Choice] = [:]
    ) throws {
        self.state = state.map { StateFolder(path: $0) } ?? .standard()
        self.configurationFile = configurationFile.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        catalog = try PluginCatalog.standard()
        let reader = try StackConfigurationReader(
            path: configurationFile, state: self.state, choices: choices, catalog: catalog)
        if let refusal = Self.refusal(of: reader.problems) { throw refusal }
        configuration = reader.stack
    }

    /// The stack for a command that only looks at it or stops it. What runs has read its configuration long ago, so a
    /// mistake that was made in the file since doesn't keep anybody from looking: the stack is what can be read of the
    /// file, or the default one if nothing can.
    /// - Throws: `ConfigurationError` about the state folder's own file.
    package init(state: String?, watching configurationFile: String?) throws {
        self.state = state.map { StateFolder(path: $0) } ?? .standard()
        self.configurationFile = configurationFile.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        let catalog = try PluginCatalog.standard()
        self.catalog = catalog
        let folder = self.state
        func read(_ path: String?) throws -> StackConfigurationReader {
            try StackConfigurationReader(path: path, state: folder, catalog: catalog)
        }
        do {
            let reader = try read(configurationFile)
            (configuration, overlooked) = (reader.stack, reader.problems)
        } catch let error as ConfigurationError {
            let reader = try read(nil)
            (configuration, overlooked) = (reader.stack, [error] + reader.problems)
        }
    }

    /// What a command says before anything else where it overlooks mistakes; nil if there are none. Pure.
    package var mistakeNotice: Failure? {
        Self.refusal(of: overlooked).map {
            let failure = Failure(of: $0)
            return Failure(
                failure.message,
                hint: (failure.hint ?? "correct it before the next start")
                    + "; 'healthbus validate' checks it again. Until then, this shows what can be read of it, "
                    + "and what runs isn't affected")
        }
    }

    /// A single error is reported on its own, several as a list.
    private static func refusal(of problems: [ConfigurationError]) -> (any Error)? {
        guard problems.count > 1 else { return problems.first }
        return Failure.usage(
            "the configuration has \(problems.count) errors" + problems.map { "\n  \($0)" }.joined(),
            hint: "correct them; docs/configuration.md lists the options, and 'healthbus validate' checks all again")
    }

    /// The stack, for a plugin's own process.
    package init(state: StateFolder, configuration: StackConfiguration, configurationFile: String?) throws {
        (self.state, self.configuration, self.configurationFile) = (state, configuration, configurationFile)
        catalog = try PluginCatalog.standard()
        advice = Advice(state: state.path == StateFolder.standard().path ? nil : state.path)
    }

    /// A reader that sends its queries only over the bus (`StackReader.init(state:stack:over:)`).
    package func reader(over client: StackClient, patience: Double = 10) -> StackReader {
        StackReader(state: state, stack: configuration, over: client, patience: patience)
    }

    /// The bus for a command, with a person's key if it is sealed.
    package var address: BusAddress { get throws { try address(as: KeyRole.cli) } }

    /// - Parameter name: whose key to use, unless `HEALTHBUS_KEY_NAME` names another.
    /// - Throws: `Failure` when the bus is sealed and that key is missing.
    package func address(as name: String) throws -> BusAddress {
        try configuration.address(in: state, as: Self.chosenKey ?? name)
    }

    private static var chosenKey: String? {
        ProcessInfo.processInfo.environment["HEALTHBUS_KEY_NAME"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether commands have a person's key. A command that has an instance's own key, as in its container, may send
    /// and receive only what that instance may, which usually excludes asking for heartbeats and giving commands.
    package var mayAsk: Bool { !(configuration.bus.isSealed && Self.chosenKey.map(names.contains) == true) }

    /// Where the stack runs, for use in messages: its folder, or the bus if its folders are elsewhere.
    package var place: String {
        guard configuration.bus.isRemote, !FileManager.default.fileExists(atPath: state.path) else { return state.path }
        return configuration.bus.endpoints?.subscribe ?? state.path
    }

    /// Whether there is a stack at all: its folder, or a bus elsewhere.
    package var exists: Bool { configuration.bus.isRemote || FileManager.default.fileExists(atPath: state.path) }

    package var observer: String { configuration.only(.observer)?.name ?? "observer" }
    package var hub: String { configuration.only(.hub)?.name ?? "hub" }
    package var names: [String] { configuration.instances.map(\.name) }

    /// What the plugins that there are, and those of instances, declare about destinations.
    package var declarations: [DestinationDeclaration] {
        (Array(catalog.manifests.values) + configuration.instances.map(\.manifest)).compactMap(\.destination)
    }

    /// The folder that holds the supervisor's own lock.
    package var supervisorFolder: String { state.instance("supervisor") }

    /// The command that starts the stack, in quotes: as the last `up` did, if its state folder remembers how.
    package var startCommand: String {
        let layer = StackLayer(state)
        // A file that can't be read is reported by the command that needs it.
        let isRemembered = (try? layer.startOptions() != StartOptions() || layer.configurationFile() != nil) ?? false
        return isRemembered ? "'healthbus start'" : "'healthbus up'"
    }

    /// Whether `healthbus up` is running for this state folder.
    package func isUp() -> Bool { InstanceLock.isHeld(folder: supervisorFolder) }

    /// A reader for the data that the stack holds, whether or not the stack is running.
    /// - Parameter foundSilent: called once for each instance that is running but doesn't answer; its file is read
    ///   instead.
    package func reader(foundSilent: ((StackReader.Silence) -> Void)? = nil) -> StackReader {
        StackReader(
            state: state, stack: configuration, address: { try address },
            foundSilent: foundSilent ?? { report($0) }
        ) { instance, database in
            // A file from an earlier release is updated, just as the instance's own program would do. If that program
            // has the file open, it has already done so.
            switch instance.manifest.kind {
            case .observer:
                try database.updateIfThereIsRoom { try ObserverSource.createTables(in: database) }
                return try ObserverSource(database: database, isShared: false)
            case .uploader:
                try database.updateIfThereIsRoom { try DeliveryTables.createTables(in: database) }
                return DeliverySource(database: database)
            default: return ChangelogSource(database: database)
            }
        }
    }

    private func report(_ silence: StackReader.Silence) {
        guard let text = notice(of: silence) else { return }
        StandardStream.error.write("healthbus: \(advice.addressed(text))\n")
    }

    /// For the reader of a command's output: how old the data is, and what to do. Pure.
    /// - Returns: nil if the command is about to say that it can't do anything because of this.
    package func notice(of silence: StackReader.Silence) -> String? {
        if let acting, silence.isHub || silence.instance == acting { return nil }
        let age = HumanFormat.duration(.seconds(silence.age))
        let verb = acting == nil ? "shows" : "uses"
        return
            (silence.isHub
            ? "'\(silence.instance)' isn't passing messages on; this \(verb) the last saved data"
            : "'\(silence.instance)' is running but not responding; this \(verb) its data as of \(age) ago")
            + "\nhint: 'healthbus doctor' shows what is stuck and what to do"
    }

    /// Reads the file of an instance that sends no heartbeat: under its lock if that is free, otherwise alongside the
    /// hanging process; nil if there is no file.
    package func kept<Result>(
        _ instance: String, _ reader: StackReader, _ body: (Database) throws -> Result
    ) throws -> Result? {
        guard FileManager.default.fileExists(atPath: state.database(instance)) else { return nil }
        guard let lock = try InstanceLock.take(folder: state.instance(instance)) else {
            return try reader.beside(instance, body)
        }
        defer { withExtendedLifetime(lock) {} }
        try StageDatabase.requireContent(at: state.database(instance))
        return try body(try .kept(at: state.database(instance)))
    }

    /// Refuses a command that needs an instance, the observer unless another is named, if it isn't running, whether
    /// with its stack or alone.
    package func requireRunning(_ name: String? = nil, or instead: String? = nil) throws {
        let name = name ?? observer
        if try reader().isRunning(name) { return }
        // A process that keeps exiting holds its lock only for short periods.
        if isUp() {
            throw Failure(
                "the stack in \(place) is running, but its \(name) isn't", hint: "'healthbus doctor' says why")
        }
        throw Failure(
            "no stack is running in \(place)",
            hint: "start it with \(startCommand)" + (instead.map { ", or do both with '\($0)'" } ?? ""))
    }

    /// Refuses a command that would have nothing to show, because there is no state folder here or it holds no stack.
    package func requireState() throws(Failure) {
        // On a remote bus, the folders are where the processes run.
        guard !configuration.bus.isRemote else { return }
        let isThere = FileManager.default.fileExists(atPath: state.path)
        let folders = names.map { state.instance($0) } + [supervisorFolder]
        if isThere, folders.contains(where: { FileManager.default.fileExists(atPath: $0) }) { return }
        throw Failure(
            isThere ? "\(state.path) holds no stack" : "there is no state folder \(state.path)",
            hint: "'healthbus up' starts a stack there; to look at another, name its folder with --state")
    }

    /// Refuses a command about running processes when none is running.
    package func requireAnyRunning() throws {
        try requireState()
        let reader = reader()
        if try names.contains(where: { try reader.isRunning($0) }) { return }
        throw Failure("no stack is running in \(place)", hint: "start it with \(startCommand)")
    }

    package func instance(_ kind: Manifest.Kind) throws -> StackConfiguration.Instance {
        guard let instance = configuration.only(kind) else {
            throw Failure("this stack has no \(kind.rawValue)", hint: "name one in \(configuration.file)")
        }
        return instance
    }
}
