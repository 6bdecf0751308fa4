import Console
import Foundation
import HealthModel
import MessageBus
import Synchronization
import Wire

/// `healthbus tap`: every message that passes, decoded. One more subscriber, so it never slows or changes the stack; one that is too slow misses messages.
public final class Tap: Sendable {
    private let seen = Mutex(0)
    private let done = DispatchSemaphore(value: 0)

    public init() {}

    /// Prints until `count` messages have passed (nil: until interrupted).
    /// - Parameter prefixes: topics that begin so; none is all.
    public func run(
        address: BusAddress, prefixes: [String], count: Int?, print: @escaping @Sendable (Message) -> Bool,
        malformed: @escaping @Sendable (MessageError) -> Void
    ) throws {
        let failure = Mutex<(any Error)?>(nil)
        let bus = try BusConnection(
            address: address, subscriptions: prefixes.isEmpty ? [.prefix("")] : prefixes.map { .prefix($0) },
            handlers: .init(
                message: { [self] message in
                    let number = seen.withLock { seen in
                        seen += 1
                        return seen
                    }
                    if let count, number > count { return }
                    if !print(message) || number == count { done.signal() }
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
    public var jsonLine: String {
        var header = self.header.other
        header["from"] = .string(self.header.from)
        header["at"] = .integer(self.header.at)
        header["v"] = .string("\(self.header.version)")
        return Value.object(["topic": .string(topic), "header": .object(header), "body": body]).json()
    }

    /// For eyes: time, topic, sender, and the body cut to fit.
    public func line(width: Int) -> String {
        let time = InstantText.iso8601(header.at).split(separator: "T").last.map(String.init) ?? ""
        let line = "\(time)  \(topic)  \(header.from)  \(body.isNull ? "" : body.json())"
        return line.count > width ? String(line.prefix(max(1, width - 1))) + "…" : line
    }
}
