import Foundation
import Glibc
import HealthModel

/// The command of a handler in another language, from its manifest: `"exec": ["python3", "handler.py"]`.
package struct ExecCommand: Sendable, Equatable {
    /// The program that hosts such a handler.
    package static let host = "healthbus-exec"

    /// The program, then its arguments.
    package var words: [String]
    /// The plugin's folder, where the program starts.
    package var folder: String
    package var limits: ExecLimits
    /// The manifest, to be named in messages.
    package var file: String

    package init(words: [String], folder: String, limits: ExecLimits = ExecLimits(), file: String) {
        (self.words, self.folder, self.limits, self.file) = (words, folder, limits, file)
    }

    /// nil when the manifest has none.
    /// - Throws: `ConfigurationError` for an invalid one.
    init?(manifest: Value, kind: Manifest.Kind, file: String) throws {
        guard !manifest["exec"].isNull else {
            guard manifest["limits"].isNull else {
                throw ConfigurationError(file: file, key: "limits", reason: "belongs to 'exec', which isn't there")
            }
            return nil
        }
        let words = (manifest["exec"].array ?? []).compactMap(\.string)
        guard !words.isEmpty, !words[0].isEmpty, words.count == manifest["exec"].array?.count else {
            throw ConfigurationError(file: file, key: "exec", reason: "must be a list of texts, the program first")
        }
        guard kind == .handler else {
            throw ConfigurationError(file: file, key: "exec", reason: "is for the kind handler, not \(kind.rawValue)")
        }
        guard manifest["executable"].isNull else {
            throw ConfigurationError(file: file, key: "executable", reason: "can't be used with 'exec'; leave one out")
        }
        self.init(
            words: words, folder: URL(fileURLWithPath: file).standardizedFileURL.deletingLastPathComponent().path,
            limits: try ExecLimits(manifest["limits"], file: file), file: file)
    }

    /// The program's absolute path: resolved against the plugin's folder if it contains a slash, otherwise found in
    /// `PATH`.
    /// - Throws: `ConfigurationError` that names the manifest when there is no such program.
    package func program(path: String? = ProcessInfo.processInfo.environment["PATH"]) throws(ConfigurationError)
        -> String
    {
        let name = words[0]
        guard !name.contains("/") else {
            let file = name.hasPrefix("/") ? name : folder + "/" + name
            guard Self.isProgram(file) else {
                throw ConfigurationError(
                    file: self.file, key: "exec",
                    reason:
                        "names '\(name)', but \(file) isn't a file that can be run; check the path and its permissions")
            }
            return file
        }
        for place in (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") where place.hasPrefix("/") {
            if Self.isProgram("\(place)/\(name)") { return "\(place)/\(name)" }
        }
        throw ConfigurationError(
            file: file, key: "exec",
            reason:
                "names '\(name)', which isn't in PATH; install it, or give its path (./\(name) in the plugin's folder)")
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && access(path, X_OK) == 0
    }
}

/// Limits for a handler in another language.
package struct ExecLimits: Sendable, Equatable {
    /// Seconds until the handler must have answered `hello`.
    package var start = 10.0
    /// Seconds that one day may take, from its first line to `done`.
    package var day = 30.0
    /// The maximum size in bytes of a day's answer, all lines together: as CBOR, it must fit into a message of 1 MiB.
    package var answer = 1 << 18
    /// Seconds between the end of the handler's input and SIGKILL.
    package var grace = 2.0
    /// The number of consecutive failed starts after which the host gives up.
    package var starts = 3

    package init() {}

    private static let schema: Value = [
        "type": "object",
        "properties": [
            "startSeconds": ["type": "number", "minimum": 0.1, "maximum": 600, "default": 10],
            "daySeconds": ["type": "number", "minimum": 0.1, "maximum": 3600, "default": 30],
        ],
    ]

    /// The manifest's `limits`.
    init(_ value: Value, file: String) throws(ConfigurationError) {
        let resolved = try SchemaCheck(file: file).resolve(value, schema: Self.schema, key: "limits")
        start = resolved["startSeconds"].double ?? start
        day = resolved["daySeconds"].double ?? day
    }
}
