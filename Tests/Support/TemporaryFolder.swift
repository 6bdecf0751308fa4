import Foundation

/// A folder that is removed when the test ends.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        // Its path is short, because the path of a Unix socket has at most 107 bytes.
        let name = "healthbus-\(UUID().uuidString.prefix(13))"
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("left behind: \(path): \(error)")
        }
    }

    /// Writes a file into the folder and returns its path.
    package func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }

    package func file(_ name: String, _ text: String) throws -> String { try file(name, Array(text.utf8)) }
}
