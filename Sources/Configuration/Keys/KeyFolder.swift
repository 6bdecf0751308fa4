import Foundation
import Glibc
import HealthModel
import Logging
import MessageBus

/// The folder of a stack's bus keys. It has one subfolder for each process, with everything that the process needs, so
/// that each can be a volume of its own.
///
///     <keys>/<name>/secret, public        its own pair (Z85), the secret 0600
///     <keys>/<name>/hub                   the hub's public key
///     <keys>/<hub>/allowed/<name>.json    who may connect: role and public keys
package struct KeyFolder: Sendable {
    package let path: String
    /// The hub's instance.
    package let hub: String

    package init(path: String, hub: String) { (self.path, self.hub) = (path, hub) }

    package func folder(_ name: String) -> String { path + "/" + name }
    func secret(_ name: String) -> String { folder(name) + "/secret" }
    func publicKey(_ name: String) -> String { folder(name) + "/public" }
    func hubKey(_ name: String) -> String { folder(name) + "/hub" }
    var allowedFolder: String { folder(hub) + "/allowed" }
    func allowed(_ name: String) -> String { allowedFolder + "/\(name).json" }

    /// Names that may connect, according to the hub's list, sorted.
    package func allowedNames() throws -> [String] {
        guard FileManager.default.fileExists(atPath: allowedFolder) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: allowedFolder)
            .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }

    /// - Returns: nil when the name isn't in the hub's list.
    /// - Throws: `Failure` when the entry can't be understood.
    package func allowedKey(_ name: String) throws -> AllowedKey? {
        guard let data = FileManager.default.contents(atPath: allowed(name)) else { return nil }
        guard let value = try? Value(json: data), let entry = AllowedKey(value) else {
            throw Failure(
                "\(allowed(name)) isn't an entry of the hub's list",
                hint: "make it again: 'healthbus keys remove \(name)', then 'healthbus keys add \(name)'")
        }
        return entry
    }

    /// - Parameter environment: `HEALTHBUS_KEY` and `HEALTHBUS_HUB_KEY` (or `…_FILE`, which name files) take precedence
    ///   over the folder.
    /// - Throws: `Failure` that names the file and what to do.
    package func credentials(
        of name: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> BusCredentials {
        let pair = try pair(of: name, environment: environment)
        let file = environment.filled("HEALTHBUS_HUB_KEY_FILE") ?? hubKey(name)
        let given = environment.filled("HEALTHBUS_HUB_KEY")
        let key = try given ?? read(file, of: name)
        guard BusKeyPair.isKey(key) else { throw malformed(given == nil ? file : "HEALTHBUS_HUB_KEY") }
        return BusCredentials(own: pair, hub: key)
    }

    /// The same, read again when the files have changed.
    func watchedCredentials(
        of name: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Watched<BusCredentials> {
        let files = [
            environment.filled("HEALTHBUS_KEY_FILE") ?? secret(name),
            environment.filled("HEALTHBUS_HUB_KEY_FILE") ?? hubKey(name),
        ]
        return Watched(files) { try credentials(of: name, environment: environment) }
    }

    package func pair(
        of name: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> BusKeyPair {
        if let key = environment.filled("HEALTHBUS_KEY") {
            do { return try BusKeyPair(secret: key) } catch { throw malformed("HEALTHBUS_KEY") }
        }
        let file: String
        if let named = environment.filled("HEALTHBUS_KEY_FILE") {
            file = named
        } else {
            file = secret(name)
            var status = stat()
            guard stat(file, &status) != 0 || status.st_mode & 0o077 == 0 else {
                throw Failure("the secret key \(file) is open to other users", hint: "run chmod 600 on it")
            }
        }
        let text = try read(file, of: name)
        do { return try BusKeyPair(secret: text) } catch { throw malformed(file) }
    }

    func read(_ file: String, of name: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Failure(
                "the bus is sealed, and \(file), which '\(name)' needs, "
                    + (FileManager.default.fileExists(atPath: file) ? "can't be read" : "isn't there"),
                hint: "run 'healthbus keys init'; existing keys are kept")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func malformed(_ file: String) -> Failure {
        Failure(
            "\(file) doesn't hold a key: 40 characters, as 'healthbus keys init' writes them", hint: "write it again")
    }
}

extension [String: String] {
    /// A variable's value; nil if it is unset or empty.
    package func filled(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
