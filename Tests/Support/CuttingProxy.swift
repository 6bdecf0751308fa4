import Foundation
import Glibc
import Synchronization

/// A proxy to a server on this machine. It cuts connections on request, or cuts each one after a given number of bytes.
package final class CuttingProxy: Sendable {
    package let port: Int
    private let target: Int
    private let listener: Int32
    private let state = Mutex(State())

    private struct State {
        var sockets: Set<Int32> = []
        var isClosed = false
        /// The number of bytes that a connection may carry to the server; nil for no limit.
        var limit: Int?
        var cuts = 0
    }

    package struct Problem: Error { package var code: Int32 }

    package init(to target: Int, cutAfter limit: Int? = nil) throws {
        self.target = target
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else { throw Problem(code: errno) }
        port = Int(UInt16(bigEndian: address.sin_port))
        state.withLock { $0.limit = limit }
        Self.detach { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let self, self.serve(client, target) else {
                    close(client)
                    continue
                }
            }
        }
    }

    deinit { stop() }

    package func stop() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        cut()
    }

    /// How often a connection was cut.
    package var cuts: Int { state.withLock { $0.cuts } }

    /// From now on connections may carry any number of bytes.
    package func heal() { state.withLock { $0.limit = nil } }

    /// Breaks all existing connections; returns how many there were.
    @discardableResult
    package func cut() -> Int {
        state.withLock { state in
            let count = state.sockets.count / 2
            state.cuts += count
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
            return count
        }
    }

    private func serve(_ client: Int32, _ target: Int) -> Bool {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(port: target)
        let connected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard connected, !state.withLock({ $0.isClosed }) else {
            close(server)
            return false
        }
        state.withLock { $0.sockets.formUnion([client, server]) }
        let done = Ending()
        Self.detach { [self] in
            pump(from: client, to: server, isToServer: true)
            if done.isLast() { finish(client, server) }
        }
        Self.detach { [self] in
            pump(from: server, to: client, isToServer: false)
            if done.isLast() { finish(client, server) }
        }
        return true
    }

    private func finish(_ client: Int32, _ server: Int32) {
        state.withLock { $0.sockets.subtract([client, server]) }
        close(client)
        close(server)
    }

    private func pump(from source: Int32, to target: Int32, isToServer: Bool) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var carried = 0
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            carried += count
            if isToServer, let limit = state.withLock({ $0.limit }), carried > limit {
                state.withLock { $0.cuts += 1 }
                break
            }
            var sent = 0
            while sent < count {
                let part = buffer.withUnsafeBytes {
                    send(target, $0.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard part > 0 else { break }
                sent += part
            }
            guard sent == count else { break }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return address
    }

    private static func detach(_ body: @escaping @Sendable () -> Void) {
        Thread(block: body).start()
    }
}

/// Shows which of two threads ends last.
private final class Ending: Sendable {
    private let left = Mutex(2)

    func isLast() -> Bool {
        left.withLock {
            $0 -= 1
            return $0 == 0
        }
    }
}
