import HealthModel
import MQTT
import Protocol
import StageKit

extension HomeAssistantStage {
    /// What the broker should have at an instant, and notes when that next changes without any news.
    func messages(at now: Instant) -> [String: String] {
        var messages: [String: String] = [:]
        var next: Instant?
        for user in book.people where people?.contains(user) != false {
            guard let zones = timelines[user] else { continue }
            messages.merge(discovery.descriptions(of: user)) { first, _ in first }
            let today = zones.day(of: now)
            for slot in DaySlot.allCases {
                let day = today.adding(days: -slot.age)
                let summary = book.summary(of: user, day)
                messages[discovery.topics.day(of: user, slot)] = discovery.state(of: day, zones, summary)
            }
            // A date that a flight across the date line skipped has no midnight.
            let midnight = (1...3).lazy.compactMap { zones.ranges(of: today.adding(days: $0)).first?.lowerBound }
                .first { $0 > now }
            next = [next, midnight].compactMap { $0 }.min()
        }
        changesAt = next
        return messages
    }

    /// What it reports as a destination.
    var delivery: UploaderDetails {
        UploaderDetails(
            deadLetters: 0, droppedLetters: 0, delivered: published > 0 ? ["daily": published] : [:],
            lastDelivered: lastPublished.map { ["daily": $0] } ?? [:], delays: [:],
            delayBuckets: .init(bounds: [], metrics: [:]), answers: .init(created: 0, updated: 0, known: 0),
            blocked: problem?.description, waitsUntil: nil, held: 0, backend: check.report(why: problem?.description),
            paused: problem?.needsPerson ?? false, path: nil, waiting: sending == nil ? 0 : 1)
    }
}

/// A request to make sure of what the broker has: everything is sent again.
struct BrokerCheck {
    private var answers: String?
    private var answered: String?
    private var compared: Instant?

    /// Returns false for a request that is known.
    mutating func begin(_ id: String) -> Bool {
        guard id != answers, id != answered else { return false }
        answers = id
        return true
    }

    /// The broker has acknowledged everything.
    mutating func end(at now: Instant) {
        guard compared == nil || answers != nil else { return }
        compared = now
        answered = answers ?? answered
        answers = nil
    }

    /// A broker doesn't say what it has kept: its acknowledgement is believed.
    func report(why: String?) -> UploaderDetails.Backend {
        .init(
            acceptance: .trust, isCompared: compared != nil && answers == nil && why == nil, compared: compared,
            result: compared == nil ? nil : .trust, missing: nil, check: answered, why: why)
    }
}
