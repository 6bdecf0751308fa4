import HealthModel
import MQTT
import StageKit

extension HomeAssistantStage {
    func hear(_ news: BrokerNews, _ turn: Turn) {
        switch news {
        case .connected:
            link.open(at: turn.monotonic)
            startOver(turn)
        case .looked: rivalry.looked()
        case .lost(let why, let seconds):
            if link.lose(why, at: turn.monotonic) {
                if why.needsPerson {
                    turn.log(.uploadPaused, ["why": why.description])
                } else {
                    turn.log(.uploadRetry, ["why": why.description, "seconds": seconds])
                }
            }
            startOver(turn)
        case .heard(let messages):
            for message in messages { hear(message, turn) }
        case .born: board.forget()
        }
    }

    private func startOver(_ turn: Turn) {
        sending = nil
        rivalry.startOver(at: turn.monotonic)
        board.forget()
    }

    /// Why nothing, or not everything, is delivered.
    func problem(at now: MonotonicTime) -> MQTTError? {
        if let problem = link.problem { return problem }
        guard rivalry.isOn(at: now) else { return nil }
        return .shared(discovery.topics.base)
    }

    /// Handles a message that somebody publishes on one of our topics, or did before we connected.
    func hear(_ message: Heard, _ turn: Turn) {
        let (topic, topics) = (message.topic, discovery.topics)
        let wasOn = rivalry.isOn(at: turn.monotonic)
        if topic == topics.status {
            if message.isRetained {
                rivalry.find(isOnline: message.payload == "online", at: turn.monotonic)
            } else {
                // This includes the last will of an earlier connection, which may arrive late.
                if board.isOverwritten(topic, message.payload) { rivalry.dispute(topic) }
                rivalry.hear(isOnline: message.payload == "online", at: turn.monotonic)
            }
        } else if message.payload.isEmpty {
            board.emptied(topic)
            rivalry.emptied(topic)
            if board.isOverwritten(topic, "") { rivalry.dispute(topic) }
        } else {
            let mark = StackMark(topic, message.payload, topics)
            let isRivals = mark.map { $0.isOther(than: discovery.owner) } ?? false
            if message.isRetained {
                if isRivals { rivalry.find(othersDay: topic, at: turn.monotonic) }
            } else {
                if isRivals { rivalry.notice(topic, at: turn.monotonic) }
                // Stacks that correct each other would do so forever.
                let isStacks = mark != nil && rivalry.isOn(at: turn.monotonic)
                if !isStacks, board.isOverwritten(topic, message.payload) { rivalry.dispute(topic) }
            }
            if mark != nil { board.found(topic) }
        }
        if !wasOn, rivalry.isOn(at: turn.monotonic) {
            turn.log(.uploadPaused, ["why": MQTTError.shared(topics.base).description])
        }
    }

    /// Sends again what others have overwritten.
    /// - Returns: when there is more to send again.
    func correct(_ turn: Turn) -> MonotonicTime? {
        for topic in rivalry.takeDue(at: turn.monotonic) { board.doubt(topic) }
        return rivalry.next
    }
}
