import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import MessageBus
import Monitoring
import Protocol
import Synchronization

/// Messages as they pass, for open pages. Each page has its own connection to the bus while it is open, so that nothing
/// else is slowed down.
package final class TapStreams: Sendable {
    /// More messages per second than a person can read are left out and counted.
    private static let perSecond = 200
    private static let most = 4

    private struct Pace {
        var second: Int64 = 0
        var count = 0
        var skipped = 0
    }

    private let address: BusAddress
    private let open = Mutex<[EventStream]>([])

    package init(_ address: BusAddress) {
        var address = address
        // A tap shows everything that passes, even messages that no process trusts.
        address.trust = nil
        self.address = address
    }

    /// - Throws: 503 when too many are open.
    func stream(_ filter: TapFilter, showsValues: Bool) throws -> EventStream {
        let stream = EventStream()
        let isFree = open.withLock { open in
            guard open.count < Self.most else { return false }
            open.append(stream)
            return true
        }
        guard isFree else {
            throw DashboardProblem(
                503, "\(Self.most) pages are already showing the messages", hint: "close one of them",
                headers: ["Retry-After": "5"])
        }
        let pace = Mutex(Pace())
        let bus: BusConnection
        do {
            bus = try BusConnection(
                address: address,
                subscriptions: filter.prefixes.isEmpty
                    ? [.prefix("")] : filter.prefixes.map { .prefix($0) },
                handlers: .init(
                    message: { message in
                        guard filter.wants(message) else { return }
                        Self.pass(showsValues ? message : Redaction.redact(message), to: stream, pace)
                    }))
        } catch {
            forget(stream)
            throw error
        }
        stream.whenClosed { [self] in
            // Closing waits for the bus's thread, but this thread has other requests to serve.
            let thread = Thread {
                bus.close()
                self.forget(stream)
            }
            thread.start()
        }
        stream.beat()
        return stream
    }

    private func forget(_ stream: EventStream) { open.withLock { $0.removeAll { $0 === stream } } }

    /// Sends all readers a beat, even if no messages pass.
    func beat() {
        for stream in open.withLock({ $0 }) { stream.beat() }
    }

    private static func pass(
        _ message: Message, to stream: EventStream, _ pace: borrowing Mutex<Pace>
    ) {
        let second = message.header.at.microseconds / 1_000_000
        let (isShown, skipped) = pace.withLock { pace in
            var missed = 0
            if second != pace.second {
                (missed, pace) = (pace.skipped, Pace(second: second))
            }
            pace.count += 1
            if pace.count > perSecond { pace.skipped += 1 }
            return (pace.count <= perSecond, missed)
        }
        if skipped > 0 { report(skipped, stream) }
        guard isShown else { return }
        let value: Value = [
            "topic": .string(message.topic), "at": .string(InstantText.iso8601(message.header.at)),
            "from": .string(message.header.from), "body": message.body,
        ]
        if !stream.send("message", data: Array(value.json().utf8)) { pace.withLock { $0.skipped += 1 } }
    }

    private static func report(_ skipped: Int, _ stream: EventStream) {
        stream.send("skipped", data: Array("{\"skipped\":\(skipped)}".utf8))
    }
}
