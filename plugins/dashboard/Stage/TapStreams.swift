import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import MessageBus
import Protocol
import Synchronization

/// Messages as they pass, for pages that look. Each has a place of its own on the bus while it is open, so that nobody else is slowed down.
package final class TapStreams: Sendable {
    /// A reader's eyes: more in a second is left out and counted.
    private static let perSecond = 200
    private static let most = 4

    private struct Pace {
        var second: Int64 = 0
        var count = 0
        var skipped = 0
    }

    private let address: BusAddress
    private let open = Mutex(0)

    package init(_ address: BusAddress) {
        var address = address
        // It shows what passes, also what nobody believes.
        address.trust = nil
        self.address = address
    }

    /// - Throws: 503 when too many are open.
    func stream(_ filter: TapFilter, showsValues: Bool) throws -> EventStream {
        let isFree = open.withLock { open in
            guard open < Self.most else { return false }
            open += 1
            return true
        }
        guard isFree else {
            throw DashboardProblem(
                503, "\(Self.most) pages look at the messages already", advice: "close one of them",
                headers: ["Retry-After": "5"])
        }
        let stream = EventStream()
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
            open.withLock { $0 -= 1 }
            throw error
        }
        stream.whenClosed { [self] in
            // Closing waits for the bus's thread, and this is one that serves others.
            let thread = Thread {
                bus.close()
                self.open.withLock { $0 -= 1 }
            }
            thread.start()
        }
        stream.beat()
        return stream
    }

    private static func pass(
        _ message: Message, to stream: EventStream, _ pace: borrowing Mutex<Pace>
    ) {
        let second = message.header.at.microseconds / 1_000_000
        let (isShown, skipped) = pace.withLock { pace in
            var told = 0
            if second != pace.second {
                (told, pace) = (pace.skipped, Pace(second: second))
            }
            pace.count += 1
            if pace.count > perSecond { pace.skipped += 1 }
            return (pace.count <= perSecond, told)
        }
        if skipped > 0 { tell(skipped, stream) }
        guard isShown else { return }
        let value: Value = [
            "topic": .string(message.topic), "at": .string(InstantText.iso8601(message.header.at)),
            "from": .string(message.header.from), "body": message.body,
        ]
        if !stream.send("message", data: Array(value.json().utf8)) { pace.withLock { $0.skipped += 1 } }
    }

    private static func tell(_ skipped: Int, _ stream: EventStream) {
        stream.send("skipped", data: Array("{\"skipped\":\(skipped)}".utf8))
    }
}
