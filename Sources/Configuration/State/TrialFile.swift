import Foundation
import Glibc
import HealthModel
import Protocol

/// What a trial found, for the person who asked for it. It is kept in the instance's own folder, which nobody else may
/// read, because the values of a day never travel over the bus. Its reader removes it.
package struct TrialFile: Sendable {
    package let path: String

    private struct Content: Codable {
        var swap: String
        var changes: [TrialChange]
    }

    /// - Parameter folder: the instance's folder.
    package init(folder: String) { path = folder + "/trial.json" }

    package func write(_ changes: [TrialChange], swap: String) throws {
        let text = Value(Content(swap: swap, changes: changes)).json()
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        else {
            throw ConfigurationError(file: path, key: "", reason: "can't be written; check that the disk has room")
        }
    }

    /// What a swap's trial found; nil if the file isn't about that swap.
    package func take(swap: String) throws -> [TrialChange]? {
        guard let data = FileManager.default.contents(atPath: path),
            let content = try Value(json: data).read(Content.self), content.swap == swap
        else { return nil }
        unlink(path)
        return content.changes
    }
}
