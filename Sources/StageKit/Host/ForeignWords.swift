import Clocks
import HealthModel
import Logging
import MessageBus
import Protocol
import Synchronization

/// Logs messages that their sender had no right to send, but only at a limited rate: a sender that floods the bus
/// mustn't fill the log as well.
final class ForeignWords: Sendable {
    private let limit = Mutex(NoticeLimit())
    private let log: StageLog

    init(_ log: StageLog) { self.log = log }

    func note(_ message: Message) {
        let notice = BusNotice(.denied, who: String(message.header.from.prefix(64)), why: "")
        guard let passed = limit.withLock({ $0.pass(notice, at: MonotonicClock.now) }) else { return }
        // A topic can be any text; its first part is enough.
        let family = message.topic.prefix { $0 != "." }.prefix(32)
        log(.messageForeign, ["from": passed.who, "topic": String(family), "untold": passed.unlogged])
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
