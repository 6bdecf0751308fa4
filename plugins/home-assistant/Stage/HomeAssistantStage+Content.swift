import HealthModel
import MQTT
import Protocol
import StageKit

extension HomeAssistantStage {
    /// What the broker should have for one user.
    struct Shown {
        /// Topics of the descriptions: these never change.
        var descriptions: [String]
        /// When different days are to be shown: at the next midnight.
        var until: Instant?
    }

    /// Determines what the broker should have for a user at an instant.
    func show(_ user: String, at now: Instant) {
        let days = DaySlot.allCases.map { (slot: $0, topic: discovery.topics.day(of: user, $0)) }
        guard book.knows(user), people?.contains(user) != false, let zones = timelines[user] else {
            guard let gone = shown.removeValue(forKey: user) else { return }
            for topic in gone.descriptions + days.map(\.topic) { board.want(topic, nil) }
            return
        }
        let today = zones.day(of: now)
        // A date that a flight across the date line skipped has no midnight.
        let midnight = (1...3).lazy.compactMap { zones.ranges(of: today.adding(days: $0)).first?.lowerBound }
            .first { $0 > now }
        if shown[user] == nil {
            let descriptions = discovery.descriptions(of: user)
            for (topic, text) in descriptions { board.want(topic, text) }
            shown[user] = Shown(descriptions: Array(descriptions.keys), until: midnight)
        } else {
            shown[user]?.until = midnight
        }
        for (slot, topic) in days {
            let day = today.adding(days: -slot.age)
            board.want(topic, discovery.state(of: day, zones, book.summary(of: user, day)))
        }
    }

    /// What this stage reports as a destination.
    func delivery(at now: MonotonicTime) -> UploaderDetails {
        let problem = problem(at: now)
        return UploaderDetails(
            delivered: published > 0 ? ["daily": published] : [:],
            lastDelivered: lastPublished.map { ["daily": $0] } ?? [:], blocked: problem?.description,
            backend: check.report(why: problem?.description), paused: problem?.needsPerson ?? false,
            waiting: sending == nil ? 0 : 1)
    }
}

/// A request to make sure of what the broker has: everything is sent again.
struct BrokerCheck {
    private var answers: String?
    private var answered: String?
    private var compared: Instant?

    /// Returns false for a request that is already known.
    mutating func begin(_ id: String) -> Bool {
        guard id != answers, id != answered else { return false }
        answers = id
        return true
    }

    /// Notes that the broker has acknowledged everything.
    mutating func end(at now: Instant) {
        guard compared == nil || answers != nil else { return }
        compared = now
        answered = answers ?? answered
        answers = nil
    }

    /// A broker doesn't say what it has kept, so its acknowledgement is believed.
    func report(why: String?) -> UploaderDetails.Backend {
        .init(
            acceptance: .trust, isCompared: compared != nil && answers == nil && why == nil, compared: compared,
            result: compared == nil ? nil : .trust, missing: nil, check: answered, why: why)
    }
}
