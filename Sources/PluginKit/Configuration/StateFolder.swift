import Foundation
import MessageBus

/// The one folder that holds everything a stack keeps: a folder for each instance, the bus's sockets, the secrets. All 0700.
public struct StateFolder: Sendable {
    public let path: String

    public init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// `HEALTHBUS_STATE`, else the XDG state folder, else `~/.local/state/healthbus`.
    public static func standard(environment: [String: String] = ProcessInfo.processInfo.environment) -> StateFolder {
        if let path = environment["HEALTHBUS_STATE"], !path.isEmpty { return StateFolder(path: path) }
        let base =
            environment["XDG_STATE_HOME"].flatMap { $0.isEmpty ? nil : $0 }
            ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state"
        return StateFolder(path: base + "/healthbus")
    }

    public func instance(_ name: String) -> String { path + "/" + name }
    public func database(_ instance: String) -> String { self.instance(instance) + "/state.sqlite" }
    /// What an instance that `up` started says on standard error.
    public func log(_ instance: String) -> String { self.instance(instance) + "/log" }
    public var secrets: String { path + "/secrets" }
    /// Where stages write their copies while a backup is made.
    public var backups: String { path + "/backup" }
    public var backendToken: String { secrets + "/backend-token" }

    /// Where the bus's sockets lie: inside the state folder, unless its path is too long for a Unix socket (107 bytes); then a folder of this user's
    /// in the temporary folder, named by the state folder's path.
    public var sockets: String {
        let inside = path + "/run"
        // "ipc://" isn't counted; "/pub" is.
        if inside.utf8.count + 4 <= 107 { return inside }
        // FNV-1a: a name, not a secret; the folder's rights protect it.
        let hash = path.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "/tmp/healthbus-\(getuid())-" + String(hash, radix: 16)
    }

    public var address: BusAddress { BusAddress(folder: sockets) }

    /// Makes a folder (0700) with those above it, and sees to the rights of one that exists.
    public static func make(_ path: String) throws(StateFolderError) {
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

public struct StateFolderError: Error, CustomStringConvertible {
    public let path: String
    public let reason: String
    public let hint: String
    public var description: String { "the state folder \(path) \(reason); \(hint)" }
}
