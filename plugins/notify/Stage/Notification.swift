import HealthModel

/// An alert on its way to a person: what its producer's row says, and whether it was raised or is over.
public struct Notification: Sendable, Equatable {
    /// The same for every attempt, another for each time that the alert is raised or cleared: whoever gets it twice can tell.
    public var id: String
    public var producer: String
    public var kind: String
    public var subject: String
    public var text: String
    public var remedy: String
    /// When it was raised; nil for one that is over.
    public var since: Instant?

    public init(
        id: String, producer: String, kind: String, subject: String, text: String, remedy: String, since: Instant?
    ) {
        self.id = id
        self.producer = producer
        self.kind = kind
        self.subject = subject
        self.text = text
        self.remedy = remedy
        self.since = since
    }

    public var isRaised: Bool { since != nil }

    /// What a program reads and a webhook gets.
    public var json: String {
        Value.object([
            "id": .string(id), "from": .string(producer), "kind": .string(kind), "subject": .string(subject),
            "state": .string(isRaised ? "raised" : "cleared"), "text": .string(text), "remedy": .string(remedy),
            "since": Value(since.map { InstantText.iso8601($0) }),
        ]).json()
    }

    /// What a program finds in its environment.
    var environment: [String: String] {
        [
            "HEALTHBUS_ALERT_KIND": kind, "HEALTHBUS_ALERT_TEXT": text, "HEALTHBUS_ALERT_REMEDY": remedy,
            "HEALTHBUS_ALERT_STATE": isRaised ? "raised" : "cleared",
        ]
    }
}

/// What became of an attempt to tell of it.
public enum NotificationResult: Sendable, Equatable {
    case told
    /// With the reason; it is tried again.
    case failed(String)
}
