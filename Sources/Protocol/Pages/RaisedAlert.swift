import HealthModel

/// An alert as a row in the raising stage's changelog; a tombstone means that it is over.
package struct RaisedAlert: Codable, Sendable, Equatable {
    package var kind: String
    /// What the alert is about within its kind; may be empty.
    package var subject: String
    /// What happened, and what to do now; human-readable.
    package var text: String
    package var remedy: String
    package var since: Instant

    package init(kind: String, subject: String, text: String, remedy: String, since: Instant) {
        (self.kind, self.subject, self.text, self.remedy, self.since) = (kind, subject, text, remedy, since)
    }

    /// `Alert.Kind.isNews`; a kind from a later release counts as a finding.
    package var isNews: Bool { Alert.Kind(rawValue: kind)?.isNews == true }
}
