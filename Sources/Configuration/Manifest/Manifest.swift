import Foundation
import HealthModel
import Processes

/// What a plugin declares about itself: `plugin.json`.
package struct Manifest: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case hub, ingest, observer, debouncer, handler, consolidator, uploader, notifier, backend, dashboard

        /// Whether the plugin's instances keep a changelog that can be queried, and take commands.
        package var isStage: Bool { ![.hub, .ingest, .backend, .dashboard].contains(self) }
    }

    /// The plugin's share of a busy processor.
    package enum Priority: String, Sendable {
        case normal
        /// Little processor time while others need it. This is for plugins that deliver elsewhere, so that they never
        /// slow down the rest.
        case low

        package var niceness: Int { self == .low ? 15 : 0 }
    }

    package var name: String
    package var version: Int
    /// The major protocol versions that the plugin speaks.
    package var protocolVersions: ClosedRange<Int>
    package var kind: Kind
    /// The program's name, if it is beside `healthbus`; with a slash, a path relative to the plugin's folder.
    package var executable: String
    /// A handler in another language: the command hosted by `executable`, which is then `healthbus-exec`. nil for all
    /// others.
    package var exec: ExecCommand?
    /// Sample types that the plugin handles; ["*"] means every type that no other handler in the stack declares.
    package var types: [String]
    /// Sample types that the plugin also reads, though another plugin handles them.
    package var reads: [String]
    /// The family under which samples of the plugin's types are delivered, which is the last part of the backend's
    /// path; nil if the manifest names none.
    package var family: String?
    /// The figures that the plugin computes for a day.
    package var figures: [FigureDeclaration]
    /// The position of the plugin's figures among those of other handlers, lowest first.
    package var place: Int
    /// Where the plugin's instances deliver to; nil for one that doesn't deliver.
    package var destination: DestinationDeclaration?
    package var consumes: [String]
    package var produces: [String]
    package var rights: PluginRights
    package var restart: RestartPolicy.Mode
    package var priority: Priority
    /// The JSON Schema of the plugin's configuration, with defaults.
    package var configuration: Value
    package var file: String
}

extension Manifest {
    /// - Throws: `ConfigurationError` with the file and the key; the first if there are several.
    package init(file: String) throws(ConfigurationError) {
        let reader = ManifestReader(file: file)
        if let first = reader.problems.first { throw first }
        guard let manifest = reader.manifest else {
            throw ConfigurationError(file: file, key: "", reason: "can't be read")
        }
        self = manifest
    }

    /// Whether it has an option of this name.
    package func declares(_ option: String) -> Bool { !configuration["properties"][option].isNull }

    /// The plugin's own folder.
    package var folder: String { URL(fileURLWithPath: file).standardizedFileURL.deletingLastPathComponent().path }
}

/// The existing plugins, by name.
package struct PluginCatalog: Sendable {
    package let manifests: [String: Manifest]
    /// Where the programs are.
    package let programs: String
    /// The folder where the manifests were looked for.
    package let folder: String

    /// Reads every `<folder>/<name>/plugin.json`, and those of the examples beside them.
    package init(folder: String, programs: String) throws {
        (self.programs, self.folder) = (programs, folder)
        var manifests: [String: Manifest] = [:]
        for folder in [folder, folder + "/examples"] {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? [] {
                let file = "\(folder)/\(name)/plugin.json"
                guard FileManager.default.fileExists(atPath: file) else { continue }
                let manifest = try Manifest(file: file)
                if let other = manifests.updateValue(manifest, forKey: manifest.name) {
                    throw ConfigurationError(
                        file: file, key: "name", reason: "is '\(manifest.name)', which \(other.file) already has")
                }
            }
        }
        self.manifests = manifests
    }

    /// The plugins that belong to this program: `HEALTHBUS_PLUGINS`, otherwise `plugins` beside the program, otherwise
    /// in a folder above it (a checkout).
    package static func standard(environment: [String: String] = ProcessInfo.processInfo.environment) throws
        -> PluginCatalog
    {
        let program = URL(fileURLWithPath: try executablePath()).deletingLastPathComponent()
        if let folder = environment["HEALTHBUS_PLUGINS"], !folder.isEmpty {
            return try PluginCatalog(folder: folder, programs: program.path)
        }
        var place = program
        for _ in 0..<6 {
            let folder = place.appendingPathComponent("plugins").path
            if FileManager.default.fileExists(atPath: folder + "/observer/plugin.json") {
                return try PluginCatalog(folder: folder, programs: program.path)
            }
            place.deleteLastPathComponent()
        }
        throw ConfigurationError(
            file: program.path, key: "",
            reason: "no 'plugins' folder beside the program or above it; set HEALTHBUS_PLUGINS")
    }

    /// The stack that is started without any other configuration: `configs/default.json` beside the programs, otherwise
    /// beside the folder of manifests, as in a checkout.
    /// - Throws: `ConfigurationError` if there is none, or it isn't JSON.
    package func defaultStack() throws -> Value {
        let files = configurations("default.json")
        guard let data = files.lazy.compactMap({ FileManager.default.contents(atPath: $0) }).first else {
            throw ConfigurationError(
                file: files[0], key: "",
                reason: "can't be read; 'make build' puts the default configuration beside the plugins and the programs"
            )
        }
        return try ConfigurationText.value(data, file: "the default configuration")
    }

    /// The path of a configuration that comes with the programs; nil if it isn't there.
    package func shipped(_ name: String) -> String? {
        configurations(name).first { FileManager.default.fileExists(atPath: $0) }
    }

    private func configurations(_ name: String) -> [String] {
        [programs, URL(fileURLWithPath: folder).deletingLastPathComponent().path].map { "\($0)/configs/\(name)" }
    }

    /// This program's own file, with links resolved.
    package static func executablePath() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    package func program(_ manifest: Manifest) -> String {
        guard manifest.executable.contains("/") else { return programs + "/" + manifest.executable }
        return PluginPath(manifest.executable, from: manifest.folder).file
    }

    /// The plugin with that name or, with a slash, the one at that path.
    /// - Parameter folder: the folder against which a relative path is resolved.
    /// - Returns: nil when no plugin has that name.
    /// - Throws: `ConfigurationError` for a path without a manifest, or with an unusable one.
    package func manifest(_ plugin: String, from folder: String) throws -> Manifest? {
        guard plugin.contains("/") else { return manifests[plugin] }
        return try Manifest(file: Self.manifestFile(plugin, from: folder))
    }

    /// The manifest of a plugin that is named by its path.
    package static func manifestFile(_ plugin: String, from folder: String) -> String {
        let file = PluginPath(plugin, from: folder).file
        return file.hasSuffix("/plugin.json") ? file : file + "/plugin.json"
    }
}

/// A path as written by a person, made absolute.
struct PluginPath {
    let file: String

    /// A path in a configuration: absolute, from the home folder (`~/`), or else relative to the folder of the
    /// configuration's file, wherever a program is started.
    init(_ path: String, beside configuration: String) {
        let path = path == "~" || path.hasPrefix("~/") ? (path as NSString).expandingTildeInPath : path
        guard !path.hasPrefix("/") else {
            self = PluginPath(file: path)
            return
        }
        self.init(path, from: URL(fileURLWithPath: configuration).deletingLastPathComponent().path)
    }

    private init(file: String) { self.file = file }

    init(_ path: String, from folder: String) {
        file =
            URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: folder, isDirectory: true))
            .standardizedFileURL.path
    }
}

extension [ConfigurationError] {
    /// The errors of one file first, then those of the others, each file's in line order.
    func inOrder(of file: String) -> [ConfigurationError] {
        enumerated().map { (rank: $0.element.file == file ? 0 : 1, index: $0.offset, problem: $0.element) }.sorted {
            ($0.rank, $0.problem.file, $0.problem.line ?? .max, $0.index)
                < ($1.rank, $1.problem.file, $1.problem.line ?? .max, $1.index)
        }.map(\.problem)
    }
}

/// An error in a configuration that can't be used: which file, which key, and what is allowed.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    /// The `file` of an error in an environment variable.
    package static let environment = "the environment"

    package let file: String
    package let key: String
    package let reason: String
    /// The line of the key in the file, from 1; nil if unknown.
    package let line: Int?
    /// Set only for a mistake that doesn't concern a key.
    package let column: Int?

    package init(file: String, key: String, reason: String, line: Int? = nil, column: Int? = nil) {
        (self.file, self.key, self.reason, self.line, self.column) = (file, key, reason, line, column)
    }

    /// The same error with the line of its key, if it concerns that file.
    func placed(_ places: JSONPlaces, in file: String) -> ConfigurationError {
        guard line == nil, file == self.file, !key.isEmpty else { return self }
        return ConfigurationError(file: file, key: key, reason: reason, line: places.line(of: key))
    }

    /// For example "stack.json:7:3", "stack.json:7", or the file alone.
    package var place: String { file + (line.map { ":\($0)" } ?? "") + (column.map { ":\($0)" } ?? "") }

    package var description: String { key.isEmpty ? "\(place): \(reason)" : "\(place): '\(key)' \(reason)" }
}

extension Manifest {
    /// The plugin's types, and their statistics: a handler of a type's samples also gets the statistics that apps have
    /// computed from them.
    package var typesWithStatistics: [String] { Self.withStatistics(types) }

    /// All types whose samples the plugin gets.
    package var sampleTypes: [String] { Self.withStatistics(types + reads) }

    private static func withStatistics(_ types: [String]) -> [String] {
        types.flatMap {
            HealthType.countsStatistics($0) ? [$0, HealthType.statistics(of: $0)] : [$0]
        }
    }
}
