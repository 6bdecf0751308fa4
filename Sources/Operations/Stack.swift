import Changelog
import Console
import Foundation
import HealthModel
import HealthStore
import MessageBus
import ObserverStage
import PluginKit
import SQLite
import UploaderStage

/// The stack that a command is about: its folder, its configuration, its plugins.
public struct Stack: Sendable {
    public let state: StateFolder
    public let configuration: StackConfiguration
    public let configurationFile: String?
    public let catalog: PluginCatalog

    /// - Parameter choices: plugins that count whatever the state folder says, by instance.
    /// - Throws: `ConfigurationError` with file, key and what is allowed.
    public init(
        state: String?, configurationFile: String?, choices: [String: StackConfiguration.Choice] = [:]
    ) throws {
        self.state = state.map { StateFolder(path: $0) } ?? .standard()
        self.configurationFile = configurationFile.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        catalog = try PluginCatalog.standard()
        configuration = try StackConfiguration(
            path: configurationFile, state: self.state, choices: choices, catalog: catalog)
    }

    /// The bus for a command, with a person's key where it is sealed.
    public var address: BusAddress { get throws { try address(as: KeyRole.cli) } }

    /// - Parameter name: whose key, unless `HEALTHBUS_KEY_NAME` says another.
    /// - Throws: `Failure` when the bus is sealed and that key isn't there.
    public func address(as name: String) throws -> BusAddress {
        let chosen = ProcessInfo.processInfo.environment["HEALTHBUS_KEY_NAME"] ?? ""
        return try configuration.address(in: state, as: chosen.isEmpty ? name : chosen)
    }

    /// Where it runs, for messages: its folder, or the bus of one whose folders lie elsewhere.
    public var place: String {
        guard configuration.bus.isRemote, !FileManager.default.fileExists(atPath: state.path) else { return state.path }
        return configuration.bus.endpoints?.subscribe ?? state.path
    }

    public var observer: String { configuration.only(.observer)?.name ?? "observer" }
    public var names: [String] { configuration.instances.map(\.name) }

    /// The folder of the supervisor's own lock.
    public var supervisorFolder: String { state.instance("supervisor") }

    /// Whether `healthbus up` runs on this state.
    public func isUp() throws -> Bool {
        guard FileManager.default.fileExists(atPath: supervisorFolder) else { return false }
        return try InstanceLock.take(folder: supervisorFolder) == nil
    }

    /// Reads what the stack holds, running or not.
    public func reader() -> StackReader {
        StackReader(state: state, stack: configuration, address: { try address }) { instance, database in
            // A file of an earlier release is brought up to date, as its own program would.
            switch instance.manifest.kind {
            case .observer:
                try database.transaction { try HealthStoreSchema.create(in: database) }
                return try ObserverSource(database: database, isShared: false)
            case .uploader:
                try database.transaction { try UploaderSource.createTables(in: database) }
                return UploaderSource(database: database)
            default: return ChangelogSource(database: database)
            }
        }
    }

    /// Refuses a command that needs the running observer, on a stack that doesn't run.
    public func requireRunning(or instead: String? = nil) throws {
        guard try reader().isRunning(observer) else {
            throw Failure(
                "no stack runs on \(place)",
                hint: "start it with 'healthbus up'" + (instead.map { ", or do both with '\($0)'" } ?? ""))
        }
    }

    public func instance(_ kind: Manifest.Kind) throws -> StackConfiguration.Instance {
        guard let instance = configuration.only(kind) else {
            throw Failure("this stack has no \(kind.rawValue)", hint: "name one in \(configuration.file)")
        }
        return instance
    }
}
