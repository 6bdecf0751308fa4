import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization
import Terminal

/// `healthbus tap`: every message that passes, decoded. It is just one more subscriber, so it never slows or changes
/// the stack; if it can't keep up, it misses messages.
package final class Tap: Sendable {
    private let done = DispatchSemaphore(value: 0)

    package init() {}

    /// Prints what the filter selects until `print` returns false, or until interrupted.
    package func run(
        address: BusAddress, filter: TapFilter, print: @escaping @Sendable (Message) -> Bool,
        malformed: @escaping @Sendable (MessageError) -> Void
    ) throws {
        let failure = Mutex<(any Error)?>(nil)
        // It shows everything that passes, including messages that no process trusts.
        var everything = address
        everything.trust = nil
        let bus = try BusConnection(
            address: everything,
            subscriptions: filter.prefixes.isEmpty ? [.prefix("")] : filter.prefixes.map { .prefix($0) },
            handlers: .init(
                message: { [self] message in
                    if filter.wants(message), !print(message) { done.signal() }
                },
                malformed: malformed,
                failed: { [self] error in
                    failure.withLock { $0 = error }
                    done.signal()
                }))
        done.wait()
        bus.close()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

extension Message {
    /// The whole message as one JSON line.
    package var jsonLine: String {
        var header = self.header.other
        header["from"] = .string(self.header.from)
        header["at"] = .integer(self.header.at.microseconds)
        header["v"] = .string("\(self.header.version)")
        return Value.object(["topic": .string(topic), "header": .object(header), "body": body]).json()
    }

    /// For people: time, topic, sender, and the body with readable dates, cut to fit.
    /// - Parameter width: `.max` for a pipe; the time is then written as ISO 8601.
    package func line(width: Int) -> String {
        let full = InstantText.iso8601(header.at)
        let time = width == .max ? full[...] : full.replacing("T", with: " ").prefix(23)
        let body = body.isNull ? "" : "  " + TapText.readable(body).json()
        let line = "\(time.hasSuffix("Z") ? String(time.dropLast()) : String(time))Z  \(topic)  \(header.from)\(body)"
        // Any process on the bus may choose any topic name, so no name must be able to control the terminal.
        let harmless = String(
            String.UnicodeScalarView(line.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        return DisplayWidth.truncated(harmless, to: width)
    }
}
