import Foundation
import Glibc
import MessageBus
import Protocol
import Synchronization
import TestSupport
import Testing

/// A sealed bus on loopback, with keys that a test can change.
final class SealedBus: Sendable {
    private struct State {
        var hub: BusKeyPair
        var pairs: [String: BusKeyPair] = [:]
        var guests = GuestList()
    }

    let address: BusAddress
    private let state: Mutex<State>
    private let reported = Mutex<[BusNotice]>([])
    private let running = Mutex<RunningForwarder?>(nil)

    init() throws {
        state = Mutex(State(hub: try .make()))
        address = BusAddress(
            publish: "tcp://127.0.0.1:\(try freePort())", subscribe: "tcp://127.0.0.1:\(try freePort())")
        try start()
    }

    func start() throws {
        let seal = HubSeal(
            keys: { [self] in state.withLock { $0.hub } }, guests: { [self] in state.withLock { $0.guests } })
        let hub = try RunningForwarder(
            address, seal: seal, notice: { [self] notice in reported.withLock { $0.append(notice) } },
            heartbeat: { Message(topic: "heartbeat.hub", header: .init(from: "hub", at: 1)) })
        running.withLock { $0 = hub }
    }

    var hub: RunningForwarder? { running.withLock { $0 } }
    var notices: [BusNotice] { reported.withLock { $0 } }

    /// Makes a key and adds it to the list.
    @discardableResult
    func admit(_ name: String, publishes: [Subscription] = [.prefix("")], hears: [Subscription] = [.prefix("")]) throws
        -> BusKeyPair
    {
        let pair = try BusKeyPair.make()
        state.withLock { state in
            state.pairs[name] = pair
            state.guests.identities[pair.publicKey] = name
            state.guests.grants[name] = TopicGrant(
                publishes: publishes + [.exact(Listener.ping)], hears: hears + [.exact(Listener.ping)],
                names: [.exact(name), .exact("sender")])
        }
        return pair
    }

    func strikeOff(_ pair: BusKeyPair) { state.withLock { $0.guests.identities[pair.publicKey] = nil } }

    func rekeyHub() throws {
        let pair = try BusKeyPair.make()
        state.withLock { $0.hub = pair }
    }

    /// A connection for a given name; a name that was never admitted gets an unknown key.
    func address(_ name: String, hubKey: String? = nil) throws -> BusAddress {
        let stranger = try BusKeyPair.make()
        var address = address
        address.seal = BusSeal(identity: name) { [self] in
            state.withLock {
                BusCredentials(own: $0.pairs[name] ?? stranger, hub: hubKey ?? $0.hub.publicKey)
            }
        }
        return address
    }
}

/// A plain TCP connection to an endpoint on loopback.
final class RawConnection {
    let descriptor: Int32

    init(_ endpoint: String) throws {
        let port = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) })
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        name.sin_port = port.bigEndian
        let connected = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
    }

    deinit { close(descriptor) }

    /// The other side may hang up before it has read everything.
    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Whether the other side closes the connection; anything it sends before that is ignored.
    func isHungUp() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, Patience.milliseconds) > 0 {
            if recv(descriptor, &buffer, buffer.count, 0) <= 0 { return true }
        }
        return false
    }

    /// Everything that arrives until the other side hangs up or has been silent for the given time.
    func receive(within milliseconds: Int32) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, milliseconds) > 0 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            all += buffer[..<count]
        }
        return all
    }
}
