import Foundation
import Glibc

/// A test's own MQTT broker, Debian's Mosquitto, in a folder that is removed with the broker. It keeps nothing on disk:
/// after `restart` it has forgotten everything.
///
/// Its program is found through `HEALTHBUS_TEST_MOSQUITTO` (`make test-servers` sets it).
///
/// `@unchecked Sendable`: only the test that created it starts and kills it, never both at once.
package final class MosquittoBroker: @unchecked Sendable {
    package let port: Int
    package let folder: TemporaryFolder
    private let program: String
    private var process: Process?

    package static let program = ProcessInfo.processInfo.environment["HEALTHBUS_TEST_MOSQUITTO"].flatMap {
        FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil
    }
    package static var isThere: Bool { program != nil }
    package static let hint = "there is no Mosquitto for tests: run 'make test-servers'"

    package struct Problem: Error, CustomStringConvertible {
        package var description: String
    }

    /// - Parameters:
    ///   - settings: lines for its configuration; nil lets everybody in.
    package init(in folder: TemporaryFolder, settings: [String]? = nil) throws {
        guard let program = Self.program else { throw Problem(description: Self.hint) }
        self.program = program
        self.folder = folder
        port = try freePort()
        var lines = ["listener \(port) 127.0.0.1", "persistence false"] + (settings ?? ["allow_anonymous true"])
        // Otherwise the broker switches to another user, who can't read the folder.
        if geteuid() == 0 { lines.append("user root") }
        _ = try folder.file("mosquitto.conf", lines.joined(separator: "\n") + "\n")
        try restart()
    }

    deinit { process?.terminate() }

    package func restart() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-c", folder.path + "/mosquitto.conf"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        guard eventually({ listens || !process.isRunning }), process.isRunning else {
            throw Problem(description: "mosquitto doesn't start with \(folder.path)/mosquitto.conf")
        }
    }

    /// Stops it as a power failure would.
    package func kill() {
        guard let process else { return }
        _ = Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }

    private var listens: Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
