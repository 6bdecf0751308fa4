import Foundation

/// A folder that is deleted with its owner. It is in memory if the machine has a place for that, since simulations
/// write thousands of transactions.
package final class SimulatedFolder {
    package let path: String

    package init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
        path = base.appendingPathComponent("healthbus-\(getpid())-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            FileHandle.standardError.write(Data("left behind: \(path): \(error)\n".utf8))
        }
    }
}
