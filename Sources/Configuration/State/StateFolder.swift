import Foundation
import MessageBus

/// The one folder that contains everything a stack keeps: a folder for each instance, the bus's sockets, and the
/// secrets. All of them have mode 0700.
package struct StateFolder: Sendable {
    package let path: String

    package init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// `HEALTHBUS_STATE`, otherwise the XDG state folder, otherwise `~/.local/state/healthbus`.
    package static func standard(environment: [String: String] = ProcessInfo.processInfo.environment) -> StateFolder {
        if let path = environment["HEALTHBUS_STATE"], !path.isEmpty { return StateFolder(path: path) }
        let base =
            environment["XDG_STATE_HOME"].flatMap { $0.isEmpty ? nil : $0 }
            ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state"
        return StateFolder(path: base + "/healthbus")
    }

    /// The variable that names the standard folder; nil if none does.
    package static var variable: String? {
        let environment = ProcessInfo.processInfo.environment
        return ["HEALTHBUS_STATE", "XDG_STATE_HOME"].first { environment.filled($0) != nil }
    }

    package func instance(_ name: String) -> String { path + "/" + name }
    package func database(_ instance: String) -> String { self.instance(instance) + "/state.sqlite" }
    /// The file for what an instance started by `up` writes to standard error.
    package func log(_ instance: String) -> String { self.instance(instance) + "/log" }
    package var secrets: String { path + "/secrets" }
    /// The folder in which stages write copies of their files while a backup is made.
    package var backups: String { path + "/backup" }
    package var backendToken: String { secrets + "/backend-token" }
    /// Who may use the stack's servers: `TokenFile`.
    package var tokens: String { secrets + "/tokens.json" }

    /// Where the bus's sockets are: inside the state folder or, if its path is too long for a Unix socket (107 bytes),
    /// in a folder of this user in /tmp, named after the state folder's path.
    package var sockets: String {
        let inside = path + "/run"
        // "ipc://" isn't counted; "/pub" is.
        if inside.utf8.count + 4 <= 107 { return inside }
        // FNV-1a is enough: this is a name, not a secret, and the folder's permissions protect it.
        let hash = path.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "/tmp/healthbus-\(getuid())-" + String(hash, radix: 16)
    }

    package var address: BusAddress { BusAddress(folder: sockets) }

    /// Creates a folder (0700) with its parents, and corrects the permissions of an existing one.
    package static func make(_ path: String) throws(StateFolderError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StateFolderError(
                path: path, reason: "can't be made",
                hint: "check that you may write there, or choose another with --state")
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw StateFolderError(path: path, reason: "can't be read", hint: "choose another with --state")
        }
        guard status.st_uid == getuid() else {
            throw StateFolderError(
                path: path, reason: "belongs to another user", hint: "run as that user, or choose another with --state")
        }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else {
            throw StateFolderError(path: path, reason: "is open to other users", hint: "run chmod 700 on it")
        }
    }
}

package struct StateFolderError: Error, CustomStringConvertible {
    package let path: String
    package let reason: String
    package let hint: String
    package var description: String { "the state folder \(path) \(reason); \(hint)" }
}
