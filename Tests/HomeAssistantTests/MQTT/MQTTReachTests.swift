import Glibc
import MQTT
import TestSupport
import Testing

/// Connecting to a broker doesn't block, whether nothing is listening or packets are dropped.
@Suite(.inTurn) struct MQTTReachTests {
    private func options(_ port: Int) throws -> MQTTConnection.Options {
        MQTTConnection.Options(
            address: try MQTTAddress("mqtt://127.0.0.1:\(port)"), client: "test", user: nil, password: nil,
            authorityFile: nil, will: (topic: "test/status", payload: "offline"))
    }

    @Test func whereNobodyListensItSaysSo() throws {
        let port = try freePort()
        let error = try #require(throws: MQTTError.self) { try MQTTConnection(options(port)) }
        #expect(error == .connection("127.0.0.1:\(port): Connection refused"))
    }

    @Test func theBellEndsTheWaitForABrokerThatDropsPackets() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        let port = try #require(listen(at: listener))
        // These connections fill the queue, so that the next ones get no answer.
        let others = (0..<3).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0) }
        defer { for other in others { close(other) } }
        for other in others { _ = withAddress(port) { connect(other, $0, $1) } }
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var byte: UInt8 = 1
        try #require(write(ends[1], &byte, 1) == 1)
        var rings = 0
        let error = try #require(throws: MQTTError.self) {
            try MQTTConnection(options(port), bell: ends[0]) {
                rings += 1
                return rings == 2
            }
        }
        #expect(error == .connection("127.0.0.1:\(port): given up") && rings == 2)
    }

    /// - Returns: the port on which it listens, with room for one connection; nil if it doesn't listen.
    private func listen(at listener: Int32) -> Int? {
        guard withAddress(0, { bind(listener, $0, $1) }) == 0, Glibc.listen(listener, 0) == 0 else { return nil }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        return code == 0 ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    private func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
