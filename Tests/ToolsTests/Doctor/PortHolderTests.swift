import Doctor
import Foundation
import Glibc
import TestSupport
import Testing

/// Which process holds a port that a stack needs.
@Suite struct PortHolderTests {
    @Test func whoeverListensIsNamed() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                try #require(bind(socket, address, size) == 0)
                // The socket is bound, but not listening yet.
                try #require(getsockname(socket, address, &size) == 0)
            }
            return Int(UInt16(bigEndian: pointer.pointee.sin_port))
        }
        #expect(PortHolder(ofPort: port) == nil)
        try #require(listen(socket, 1) == 0)
        let holder = try #require(PortHolder(ofPort: port))
        #expect(holder.pid == Int(getpid()))
        #expect(holder.words == CommandLine.arguments && holder.state == nil)
        #expect(holder.description.hasSuffix("(process \(getpid()))"))
    }

    @Test func aStackIsNamedByItsFolder() {
        let backend = PortHolder(pid: 7, words: ["/opt/hb/healthbus-backend", "--state", "/srv/h", "--instance", "b"])
        #expect(backend.state == "/srv/h" && backend.description == "the stack in /srv/h (process 7)")
        let other = PortHolder(pid: 8, words: ["/usr/sbin/nginx", "--state", "/srv/h"])
        #expect(other.state == nil && other.description == "nginx (process 8)")
    }
}
