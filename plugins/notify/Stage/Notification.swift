import HealthModel

/// An alert on its way to a person: the content of its producer's row, and whether it was raised or is over.
package struct Notification: Sendable, Equatable {
    /// The same for every attempt, but different each time the alert is raised or cleared, so that recipients can
    /// recognize duplicates.
    package var id: String
    package var producer: String
    package var kind: String
    package var subject: String
    package var text: String
    package var remedy: String
    /// When the alert was raised; nil for one that is over.
    package var since: Instant?

    package init(
        id: String, producer: String, kind: String, subject: String, text: String, remedy: String, since: Instant?
    ) {
        (self.id, self.producer, self.kind, self.subject, self.text) = (id, producer, kind, subject, text)
        (self.remedy, self.since) = (remedy, since)
    }

    package var isRaised: Bool { since != nil }

    /// What a program gets as its input and a webhook gets as its body.
    package var json: String {
        Value.object([
            "id": .string(id), "from": .string(producer), "kind": .string(kind), "subject": .string(subject),
            "state": .string(isRaised ? "raised" : "cleared"), "text": .string(text), "remedy": .string(remedy),
            "since": Value(since.map { InstantText.iso8601($0) }),
        ]).json()
    }

    /// A program's environment variables.
    var environment: [String: String] {
        [
            "HEALTHBUS_ALERT_KIND": kind, "HEALTHBUS_ALERT_TEXT": text, "HEALTHBUS_ALERT_REMEDY": remedy,
            "HEALTHBUS_ALERT_STATE": isRaised ? "raised" : "cleared",
        ]
    }
}

/// The result of an attempt to deliver the notification.
package enum NotificationResult: Sendable, Equatable {
    case notified
    /// Why it failed; delivery is tried again.
    case failed(String)
}
