import HealthModel
import MQTT
import StageKit

extension HomeAssistantStage {
    func hear(_ news: BrokerNews, _ turn: Turn) {
        switch news {
        case .connected:
            link.open(at: turn.monotonic)
            startOver()
        case .lost(let why, let seconds):
            if link.lose(why, at: turn.monotonic) {
                if why.needsPerson {
                    turn.log(.uploadPaused, ["why": why.description])
                } else {
                    turn.log(.uploadRetry, ["why": why.description, "seconds": seconds])
                }
            }
            startOver()
        case .heard(let messages):
            for message in messages { hear(message, turn) }
        case .born: board.forget()
        }
    }

    private func startOver() {
        sending = nil
        rivalry.startOver()
        board.forget()
    }

    /// Why nothing, or not everything, is delivered.
    func problem(at now: MonotonicTime) -> MQTTError? {
        if let problem = link.problem { return problem }
        guard rivalry.isOn(at: now) else { return nil }
        return .shared(discovery.topics.base)
    }

    /// Somebody publishes on one of our topics, or did so before we connected.
    func hear(_ message: Heard, _ turn: Turn) {
        let (topic, topics) = (message.topic, discovery.topics)
        let wasOn = rivalry.isOn(at: turn.monotonic)
        if topic == topics.status {
            if message.isRetained {
                rivalry.find(isOnline: message.payload == "online", at: turn.monotonic)
            } else if board.isOverwritten(topic, message.payload) {
                // This includes the last will of an earlier connection, which may arrive late.
                rivalry.dispute(topic)
            }
        } else if message.payload.isEmpty {
            board.emptied(topic)
            if board.isOverwritten(topic, "") { rivalry.dispute(topic) }
        } else {
            let mark = StackMark(topic, message.payload, topics)
            let isRivals = mark.map { $0.isOther(than: discovery.owner) } ?? false
            if message.isRetained {
                if isRivals { rivalry.find(isOthersDay: true, at: turn.monotonic) }
            } else {
                if isRivals { rivalry.notice(at: turn.monotonic) }
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
