import Client
import Configuration
import HealthModel
import Inspection
import Protocol

/// The rows that hints announce, read from the stores: a hint itself holds no values.
package final class TapRows {
    private let stack: StackConfiguration
    private let reader: StackReader
    private let note: (String) -> Void
    /// Whether the stores can't be read, so that hints are shown as they are.
    private var isBlind = false

    /// - Parameter note: receives, once, why the stores can't be read.
    package init(_ stack: Stack, note: @escaping (String) -> Void) {
        self.stack = stack.configuration
        reader = stack.reader()
        self.note = note
    }

    /// Whether a message is a hint that says where its changes begin.
    package static func announces(_ message: Message) -> Bool { message.body.read(Hint.self)?.after != nil }

    /// The rows as messages on the hint's topic. A row that has changed again comes with the next hint.
    /// - Returns: nil if they can't be read.
    package func rows(of message: Message) -> [Message]? {
        guard !isBlind, let hint = message.body.read(Hint.self), var after = hint.after,
            let instance = stack.instance(message.header.from)
        else { return nil }
        var found: [Message] = []
        do {
            while after < hint.head.sequence {
                let pages = try reader.pages(
                    instance, .changes(topic: message.topic),
                    PullPlace(of: hint.head, after: after, until: hint.head.sequence))
                guard !pages.isEmpty else { return nil }
                for row in pages.flatMap({ TapRow.rows(of: $0.content) }) where row.topic == message.topic {
                    found.append(Message(topic: row.topic, header: message.header, body: row.body))
                }
                guard let through = pages.last?.content.through, through > after else { break }
                after = through
            }
        } catch {
            isBlind = true
            note("values can't be read, so hints are shown without them: \(error)")
            return nil
        }
        return found
    }
}
