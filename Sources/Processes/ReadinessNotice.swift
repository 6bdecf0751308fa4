import Foundation
import Glibc

/// How a service says that it has started: one datagram, as described in systemd's sd_notify(3), to the socket that
/// `NOTIFY_SOCKET` names.
package enum ReadinessNotice {
    package static let variable = "NOTIFY_SOCKET"
    private static let text = "READY=1"

    /// Notifies the process that started this one that it is ready; does nothing if no process is waiting for that.
    package static func send(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let name = environment[variable], !name.isEmpty else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        // The process that was waiting may be gone, in which case there is nothing to notify.
        _ = withAddress(name) { sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) }
    }

    /// Receives the notice of a process that is started with this name in its environment.
    package final class Receiver: Sendable {
        /// An abstract address, without a file: nothing is left behind.
        package let name: String
        private let descriptor: Int32

        /// - Throws: `ProcessError` when the system can't provide a socket for it.
        package init() throws(ProcessError) {
            name = "@healthbus-\(UUID().uuidString.lowercased())"
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            let code = descriptor < 0 ? -1 : withAddress(name) { bind(descriptor, $0, $1) }
            guard code == 0 else {
                let number = errno
                if descriptor >= 0 { close(descriptor) }
                throw ProcessError(.system, "can't make a socket", errorNumber: number)
            }
        }

        deinit { close(descriptor) }

        /// Waits for at most this long; returns whether the notice arrived.
        package func wait(for timeout: Duration) -> Bool {
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, timeout.pollMilliseconds) > 0 else { return false }
            var room = [UInt8](repeating: 0, count: 256)
            let count = recv(descriptor, &room, room.count, 0)
            return room.prefix(max(0, count)).elementsEqual(text.utf8)
        }
    }

    /// The name is a path or, if it begins with "@", an abstract name without a file. A name that is too long has no
    /// address, so no process listens there.
    private static func withAddress(_ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int) -> Int {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if name.hasPrefix("@") { bytes[0] = 0 }
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return -1 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    private static func withAddress(_ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var code: Int32 = -1
        _ = withAddress(name) { address, length -> Int in
            code = body(address, length)
            return 0
        }
        return code
    }
}
