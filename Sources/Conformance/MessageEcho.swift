import HealthModel
import MessageBus
import Synchronization
import Wire

/// Says everything that an instance hears a second time, with members that nobody knows.
final class MessageEcho: Sendable {
    private struct State {
        var bus: BusConnection?
        var count = 0
    }

    private static let name = "test-echo"
    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    func open(_ address: BusAddress, instance: String) throws {
        let bus = try BusConnection(
            address: address, subscriptions: [.exact("sync.\(instance)"), .exact("page.\(instance)")],
            handlers: .init(message: { [weak self] in self?.repeat($0) }))
        state.withLock { $0.bus = bus }
    }

    private func `repeat`(_ message: Message) {
        guard message.header.from != Self.name else { return }
        var body = message.body
        if let members = body.object { body = .object(members.merging(LineCases.future) { own, _ in own }) }
        let header = Message.Header(from: Self.name, at: message.header.at, other: LineCases.future)
        state.withLock { state in
            state.count += 1
            state.bus?.send(Message(topic: message.topic, header: header, body: body))
        }
    }

    func close() { state.withLock { $0.bus }?.close() }
}
