import Foundation
import Glibc
import MessageBus
import Synchronization
import TestSupport
import Testing

/// A man in the middle: passes bytes on in both directions, and records what the client sent.
final class Recorder: Sendable {
    private let endpoint: String
    private let port: Int
    private let listening: Int32
    private let said = Mutex<[UInt8]>([])

    /// - Parameter endpoint: where a hub listens for publishers.
    init(_ endpoint: String) throws {
        self.endpoint = endpoint
        let port = try freePort()
        self.port = port
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        listening = descriptor
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        name.sin_port = UInt16(port).bigEndian
        let bound = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(descriptor, 4) == 0
            }
        }
        try #require(bound)
        let hub = try RawConnection(endpoint).duplicate()
        let thread = Thread { [self] in
            let client = accept(descriptor, nil, nil)
            var waiting = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: hub, events: Int16(POLLIN), revents: 0),
            ]
            var buffer = [UInt8](repeating: 0, count: 4096)
            while poll(&waiting, 2, Patience.milliseconds) > 0 {
                for (index, other) in [(0, hub), (1, client)] where waiting[index].revents != 0 {
                    let count = recv(waiting[index].fd, &buffer, buffer.count, 0)
                    guard count > 0 else {
                        close(client)
                        close(hub)
                        return
                    }
                    if index == 0 { said.withLock { $0 += buffer[..<count] } }
                    _ = send(other, buffer, count, Int32(MSG_NOSIGNAL))
                }
            }
        }
        thread.start()
    }

    deinit { close(listening) }

    var recorded: [UInt8] { said.withLock { $0 } }

    /// The same bus, with the recorder in between.
    func address(_ address: BusAddress) -> BusAddress {
        BusAddress(publish: "tcp://127.0.0.1:\(port)", subscribe: address.subscribe, seal: address.seal)
    }
}

extension RawConnection {
    /// A second descriptor for the same connection.
    func duplicate() throws -> Int32 {
        let copy = dup(descriptor)
        try #require(copy >= 0)
        return copy
    }
}
