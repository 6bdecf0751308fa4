import HealthModel
import MessageBus
import Protocol
import Synchronization

/// Repeats everything that an instance receives, with unknown members added.
final class MessageEcho: Sendable {
    private struct State {
        var bus: HeardBus?
        var count = 0
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }
    var isHeard: Bool { state.withLock { $0.bus }?.isHeard ?? false }

    func open(_ address: BusAddress, instance: String) throws {
        let bus = try HeardBus(address, topics: ["sync.\(instance)", "page.\(instance)"]) { [weak self] in
            self?.say($0)
        }
        state.withLock { $0.bus = bus }
    }

    private func say(_ message: Message) {
        var body = message.body
        if let members = body.object { body = .object(members.merging(LineCases.future) { own, _ in own }) }
        let bus = state.withLock { state in
            state.count += 1
            return state.bus
        }
        bus?.send(message.topic, body, as: message.header.from)
    }

    func close() { state.withLock { $0.bus }?.close() }
}
