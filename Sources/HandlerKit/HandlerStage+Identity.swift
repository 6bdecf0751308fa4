import Configuration
import Foundation
import HealthModel
import SQLite
import StageKit

extension HandlerStage {
    /// What this process computes days with, as JSON.
    var identity: String {
        let identity: Value = [
            "name": .string(manifest.name), "manifest": .integer(Int64(manifest.version)),
            "handler": .integer(Int64(computer.traits.version)), "configuration": configuration,
            "types": Value(types),
        ]
        return identity.json()
    }

    /// The identity of the process that the file's days were last computed by; nil if there is none yet.
    static func computedWith(_ database: Database) throws -> String? {
        guard try database.hasTable("freshness") else { return nil }
        return try Freshness.kept("computedWith", in: database) { $0.string(0) }
    }

    /// Whether a file's days were computed by another plugin, or with other options.
    func isOther(than path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        let before = try Self.computedWith(Database(path: path, mode: .readOnly))
        return before != nil && before != identity
    }
}
