import Glibc
import Synchronization

/// A TCP port on the loopback interface that nothing listens on, and that no other test of this run gets.
///
/// It is below the range that the kernel uses for outgoing connections, one of which might otherwise take the port
/// first.
package func freePort() throws -> Int {
    struct NoFreePort: Error {}
    for _ in 0..<1000 {
        let port = Int.random(in: 12_000..<32_000)
        guard givenPorts.withLock({ $0.insert(port).inserted }) else { continue }
        if isFree(port) { return port }
    }
    throw NoFreePort()
}

private let givenPorts = Mutex<Set<Int>>([])

private func isFree(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
