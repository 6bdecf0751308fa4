import Foundation
import HealthModel
import Processes
import Protocol

/// What a plugin says of itself: `plugin.json`.
package struct Manifest: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case hub, ingest, observer, debouncer, handler, consolidator, uploader, notifier, backend, dashboard

        /// Whether its instances keep a changelog, are asked for it, and take commands.
        package var isStage: Bool { ![.hub, .ingest, .backend, .dashboard].contains(self) }
    }

    package var name: String
    package var version: Int
    /// Protocol majors it speaks.
    package var protocolVersions: ClosedRange<Int>
    package var kind: Kind
    /// The program, beside `healthbus`; with a slash a path from the plugin's folder.
    package var executable: String
    /// A handler in another language: the command that `executable`, which is then `healthbus-exec`, hosts. nil for all others.
    package var exec: ExecCommand?
    /// Sample types it handles; ["*"] is every type that no other handler of the stack declares.
    package var types: [String]
    /// Sample types that it reads beside them, though another plugin handles them.
    package var reads: [String]
    /// Under which family the samples of its types are delivered, which is the last part of the backend's path; nil: it names none.
    package var family: String?
    /// What it gives for a day.
    package var figures: [FigureDeclaration]
    /// Where its figures stand among those of other handlers, the least first.
    package var place: Int
    package var consumes: [String]
    package var produces: [String]
    package var rights: PluginRights
    package var restart: RestartPolicy.Mode
    /// JSON Schema of its configuration, with defaults.
    package var configuration: Value
    package var file: String

    /// - Throws: `ConfigurationError` with the file and the key.
    package init(file: String) throws {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw ConfigurationError(file: file, key: "", reason: "can't be read")
        }
        let value: Value
        do { value = try Value(json: data, comments: true) } catch {
            throw ConfigurationError(file: file, key: "", reason: "isn't JSON: \(Self.plain(error))")
        }
        guard value.object != nil else { throw ConfigurationError(file: file, key: "", reason: "must be an object") }
        try ManifestSchema.check(value, file: file)
        func text(_ key: String) throws -> String {
            guard let text = value[key].string, !text.isEmpty else {
                throw ConfigurationError(file: file, key: key, reason: "must be a text")
            }
            return text
        }
        func texts(_ key: String) -> [String] { (value[key].array ?? []).compactMap(\.string) }
        self.file = file
        name = try text("name")
        guard name.utf8.count <= 64,
            name.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 45 })
        else {
            throw ConfigurationError(
                file: file, key: "name", reason: "must be of a-z, 0-9 and hyphens, at most 64")
        }
        guard let kind = Kind(rawValue: try text("kind")) else {
            throw ConfigurationError(
                file: file, key: "kind",
                reason: "must be one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.kind = kind
        exec = try ExecCommand(manifest: value, kind: kind, file: file)
        executable = try exec == nil ? text("executable") : ExecCommand.host
        guard let version = value["version"].int, let low = value["protocol"]["min"].int,
            let high = value["protocol"]["max"].int,
            low <= high
        else {
            throw ConfigurationError(
                file: file, key: "version, protocol", reason: "must be whole numbers, min not above max")
        }
        self.version = Int(version)
        protocolVersions = Int(low)...Int(high)
        guard protocolVersions.contains(ProtocolVersion.current.major) else {
            throw ConfigurationError(
                file: file, key: "protocol",
                reason: "speaks protocol \(low) to \(high), this release speaks \(ProtocolVersion.current)")
        }
        types = texts("types")
        reads = texts("reads")
        family = value["family"].string
        if let family, family == "daily" || !StackConfiguration.isName(family) {
            throw ConfigurationError(
                file: file, key: "family",
                reason: "must be of a-z, 0-9 and hyphens, at most 64, and not daily, which is the summaries'")
        }
        figures = (value["figures"].array ?? []).compactMap { FigureDeclaration($0) }
        place = Int(value["place"].int ?? 100)
        consumes = texts("consumes")
        produces = texts("produces")
        rights = try PluginRights(value, kind: kind, file: file)
        // One that says nothing has no options: what isn't declared is refused.
        configuration = value["configuration"].isNull ? ["type": "object"] : value["configuration"]
        guard configuration["type"].string == "object" else {
            throw ConfigurationError(file: file, key: "configuration.type", reason: "must be \"object\"")
        }
        restart = value["restart"].string.flatMap { RestartPolicy.Mode(rawValue: $0) } ?? .always
    }

    /// The plugin's own folder.
    package var folder: String { URL(fileURLWithPath: file).standardizedFileURL.deletingLastPathComponent().path }

    static func plain(_ error: any Error) -> String {
        if case DecodingError.dataCorrupted(let context) = error {
            return (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"] as? String
                ?? context.debugDescription
        }
        return "\(error)"
    }
}

/// The plugins that are there, by name.
package struct PluginCatalog: Sendable {
    package let manifests: [String: Manifest]
    /// Where the programs lie.
    package let programs: String
    /// Where the manifests were looked for.
    package let folder: String

    /// Reads every `<folder>/<name>/plugin.json`, and the examples' beside them.
    package init(folder: String, programs: String) throws {
        self.programs = programs
        self.folder = folder
        var manifests: [String: Manifest] = [:]
        for folder in [folder, folder + "/examples"] {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? [] {
                let file = "\(folder)/\(name)/plugin.json"
                guard FileManager.default.fileExists(atPath: file) else { continue }
                let manifest = try Manifest(file: file)
                if let other = manifests.updateValue(manifest, forKey: manifest.name) {
                    throw ConfigurationError(
                        file: file, key: "name", reason: "is '\(manifest.name)', which \(other.file) has already")
                }
            }
        }
        self.manifests = manifests
    }

    /// The plugins that belong to this program: `HEALTHBUS_PLUGINS`, else `plugins` beside it, else in a folder above it (a checkout).
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

    /// The stack that is started when no other configuration is given: `configs/default.json` beside the programs, else beside the folder of
    /// manifests, as in a checkout.
    /// - Throws: `ConfigurationError` where there is none, or it isn't JSON.
    package func defaultStack() throws -> Value {
        let places = [programs, URL(fileURLWithPath: folder).deletingLastPathComponent().path]
        let files = places.map { $0 + "/configs/default.json" }
        guard let data = files.lazy.compactMap({ FileManager.default.contents(atPath: $0) }).first else {
            throw ConfigurationError(
                file: files[0], key: "",
                reason: "can't be read; 'make build' puts the default configuration beside the plugins and the programs"
            )
        }
        return try StackConfigurationReader.parse(Array(data), file: "the default configuration")
    }

    /// This program's own file, links resolved.
    package static func executablePath() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    package func program(_ manifest: Manifest) -> String {
        guard manifest.executable.contains("/") else { return programs + "/" + manifest.executable }
        return PluginPath(manifest.executable, from: manifest.folder).file
    }

    /// The plugin of that name or, with a slash, the one that lies there.
    /// - Parameter folder: where a relative path begins.
    /// - Returns: nil when no plugin has that name.
    /// - Throws: `ConfigurationError` for a path without a manifest, or with one that can't be used.
    package func manifest(_ plugin: String, from folder: String) throws -> Manifest? {
        guard plugin.contains("/") else { return manifests[plugin] }
        let file = PluginPath(plugin, from: folder).file
        return try Manifest(file: file.hasSuffix("/plugin.json") ? file : file + "/plugin.json")
    }
}

/// A path as a person writes it, made absolute.
struct PluginPath {
    let file: String

    init(_ path: String, from folder: String) {
        file =
            URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: folder, isDirectory: true))
            .standardizedFileURL.path
    }
}

/// A configuration that can't be used: which file, which key, what is allowed.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    package let file: String
    package let key: String
    package let reason: String
    /// Where the key stands in the file, from 1; nil where that isn't known.
    package let line: Int?

    package init(file: String, key: String, reason: String, line: Int? = nil) {
        self.file = file
        self.key = key
        self.reason = reason
        self.line = line
    }

    /// The same with the line of its key, when it is about that file.
    func placed(_ places: JSONPlaces, in file: String) -> ConfigurationError {
        guard line == nil, file == self.file, !key.isEmpty else { return self }
        return ConfigurationError(file: file, key: key, reason: reason, line: places.line(of: key))
    }

    /// "stack.json:7", or the file alone.
    package var place: String { file + (line.map { ":\($0)" } ?? "") }

    package var description: String { key.isEmpty ? "\(place): \(reason)" : "\(place): '\(key)' \(reason)" }
}
