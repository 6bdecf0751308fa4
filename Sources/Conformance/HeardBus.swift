import Clocks
import HealthModel
import MessageBus
import Protocol
import Synchronization

/// A connection that is known to work: its own heartbeat has come back.
final class HeardBus: Sendable {
    static let name = "plugin-test"
    private let heard: Heard
    private let bus: BusConnection

    private final class Heard: Sendable {
        private let state = Mutex(false)
        var isSet: Bool { state.withLock { $0 } }
        func set() { state.withLock { $0 = true } }
    }

    /// - Parameter message: called on the bus thread with others' messages on the topics.
    init(_ address: BusAddress, topics: [String] = [], message: @escaping @Sendable (Message) -> Void = { _ in }) throws
    {
        let heard = Heard()
        let own = Heartbeat.topic(Self.name)
        bus = try BusConnection(
            address: address, subscriptions: (topics + [own]).map { .exact($0) },
            handlers: .init(
                message: {
                    if $0.topic == own { heard.set() } else if !Self.isOwn($0) { message($0) }
                },
                heartbeat: { Message(topic: own, header: .init(from: Self.name, at: WallClock.now)) },
                pace: { heard.isSet ? .lively : .unheard }))
        self.heard = heard
    }

    /// Recognizes the kit's own messages: whatever sender they name, they have members that exist in no release.
    private static func isOwn(_ message: Message) -> Bool {
        LineCases.future.keys.contains { message.header.other[$0] != nil }
    }

    var isHeard: Bool { heard.isSet }
    var sent: Int { bus.counters.sent }

    /// - Parameter name: the name to give as the sender, since no process accepts such messages under the kit's own
    ///   name.
    func send(_ topic: String, _ body: Value, as name: String, version: ProtocolVersion = .current) {
        bus.send(
            Message(
                topic: topic, header: .init(from: name, at: WallClock.now, version: version, other: LineCases.future),
                body: body))
    }

    func send(frames: [[UInt8]]) { bus.send(frames) }
    func close() { bus.close() }
}
