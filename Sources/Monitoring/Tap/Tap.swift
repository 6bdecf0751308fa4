import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization
import Terminal

/// `healthbus tap`: every message that passes, decoded. It is just one more subscriber, so it never slows or changes
/// the stack; if it can't keep up, it misses messages.
package final class Tap: Sendable {
    /// Hints to be looked up: few, since a person can't read many.
    private let hints = Mailbox<Message>(capacity: 64)

    package init() {}

    /// Prints what the filter selects until `print` returns false, or until interrupted.
    /// - Parameters:
    ///   - rows: reads what a hint announces; nil to print hints as they are. Called on this thread.
    ///   - notes: what it says about data that is held back.
    ///   - note: receives why data is held back, if messages of its path are wanted.
    package func run(
        address: BusAddress, filter: TapFilter, rows: TapRows? = nil, notes: HeldBackNotes,
        print: @escaping @Sendable (Message) -> Bool,
        malformed: @escaping @Sendable (MessageError) -> Void, note: @escaping @Sendable (HeldBackNotes.News) -> Void
    ) throws {
        let failure = Mutex<(any Error)?>(nil)
        let notes = Mutex(notes)
        let (isNoting, isLooking) = (filter.wantsPath, rows != nil)
        // It shows everything that passes, including messages that no process trusts.
        var everything = address
        everything.trust = nil
        let prefixes = filter.prefixes + (isNoting ? [Heartbeat.topic("")] : [])
        let bus = try BusConnection(
            address: everything,
            subscriptions: filter.prefixes.isEmpty ? [.prefix("")] : prefixes.map { .prefix($0) },
            handlers: .init(
                message: { [self] message in
                    if isNoting, let news = notes.withLock({ $0.heard(message) }) { note(news) }
                    guard filter.wants(message) else { return }
                    if isLooking, TapRows.announces(message), hints.offer(message) { return }
                    if !print(message) { hints.close() }
                },
                malformed: malformed,
                failed: { [self] error in
                    failure.withLock { $0 = error }
                    hints.close()
                }))
        while !hints.isClosed {
            for hint in hints.take(limit: 1, timeout: 60) {
                for message in rows?.rows(of: hint) ?? [hint] where filter.wants(message) && !print(message) {
                    hints.close()
                    break
                }
            }
        }
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
        return DisplayWidth.truncated(Table.inOneLine(line), to: width)
    }
}
