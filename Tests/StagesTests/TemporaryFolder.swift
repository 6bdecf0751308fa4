import Foundation

/// A folder that is gone with the test, in memory where the machine has such a place: these tests write thousands of transactions.
final class TemporaryFolder {
    let path: String

    init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
        path = base.appendingPathComponent("healthbus-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("left behind: \(path): \(error)")
        }
    }
}
