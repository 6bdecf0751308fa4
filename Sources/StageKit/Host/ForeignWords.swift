import Clocks
import HealthModel
import Logging
import MessageBus
import Protocol
import Synchronization

/// Logs messages that their sender had no right to send, or that can't be read, but each only once in ten seconds: a
/// sender that floods the bus, under whatever names, mustn't fill the log as well.
package final class ForeignWords: Sendable {
    private let limit = Mutex(NoticeLimit())
    private let log: StageLog

    package init(_ log: StageLog) { self.log = log }

    package func note(_ message: Message) {
        guard let untold = untold("foreign") else { return }
        // A topic can be any text; its first part is enough.
        let family = message.topic.prefix { $0 != "." }.prefix(32)
        let from = String(message.header.from.prefix(64))
        log(.messageForeign, ["from": from, "topic": String(family), "untold": untold])
    }

    package func note(_ error: MessageError) {
        guard let untold = untold("malformed") else { return }
        log(.messageMalformed, ["why": error.shortened.description, "untold": untold])
    }

    /// How many weren't logged before this one; nil if this one isn't logged either.
    private func untold(_ what: String) -> Int? {
        limit.withLock { $0.pass(BusNotice(.denied, who: what, why: ""), at: MonotonicClock.now) }?.untold
    }
}

extension StageLog {
    /// The same log, limited to one line per event and consumer every ten seconds, since a consumer may ask as often as
    /// it likes.
    func seldom() -> StageLog {
        let limit = SharedLimit()
        return StageLog { event, failed, fields in
            let consumer = fields.first { $0.key == "consumer" }.map { "\($0.value)" } ?? ""
            guard limit.passes(BusNotice(.denied, who: "\(event.name) \(consumer)", why: "")) else { return }
            self(event, failed: failed, fields)
        }
    }
}

private final class SharedLimit: Sendable {
    private let limit = Mutex(NoticeLimit())

    func passes(_ notice: BusNotice) -> Bool {
        limit.withLock { $0.pass(notice, at: MonotonicClock.now) != nil }
    }
}
