import Changelog
import HealthModel
import Protocol
import SQLite

/// Something that a person should know of, raised once and cleared once.
///
/// An alert is a row of the raising stage's own changelog under the topic `alert.<kind>`: it is committed with what led to it, and whoever wants
/// to hear of it pulls it like everything else.
package struct Alert: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Background delivery has stopped: fires weren't acknowledged, or a registration was refused.
        case deliveryStopped = "delivery-stopped"
        /// The lock has held changes back for an hour.
        case unlockReminder = "unlock-reminder"
        /// A workout has come in that ended a short while ago.
        case workoutRecorded = "workout-recorded"
        /// Syncs fail, or nothing reaches the backend although something waits.
        case degraded
    }

    package var kind: Kind
    /// What it is about within its kind (a type, a workout's id); empty when the kind says it all. Never a health value.
    package var subject: String
    /// What has happened, for people.
    package var text: String
    /// What to do now.
    package var remedy: String

    package init(_ kind: Kind, subject: String = "", text: String, remedy: String) {
        self.kind = kind
        self.subject = subject
        self.text = text
        self.remedy = remedy
    }

    package static let topicPrefix = "alert."
    /// Kinds of plugins that raise some.
    package static let raisers: Set<Manifest.Kind> = [.observer, .debouncer, .handler, .uploader]
    package static func topic(_ kind: Kind) -> String { topicPrefix + kind.rawValue }
    static func key(_ kind: Kind, _ subject: String) -> String { "alert/\(kind.rawValue)/\(subject)" }
}

extension Turn {
    /// Raises an alert unless it is raised already; true when it is new.
    /// - Parameter user: whose data it is about; empty when it is about the stack.
    @discardableResult
    package func raise(_ alert: Alert, user: String = "") throws -> Bool {
        guard try !isRaised(alert.kind, subject: alert.subject) else { return false }
        log(.alertRaised, ["kind": alert.kind.rawValue, "subject": alert.subject])
        _ = try write()
        try changelog.put(
            key: Alert.key(alert.kind, alert.subject), topic: Alert.topic(alert.kind), user: user, day: nil,
            body: [
                "kind": .string(alert.kind.rawValue), "subject": .string(alert.subject), "text": .string(alert.text),
                "remedy": .string(alert.remedy), "since": .integer(now),
            ])
        publish(Alert.topic(alert.kind), Hint(head: head))
        return true
    }

    /// Clears an alert; true when it was raised.
    @discardableResult
    package func clear(_ kind: Alert.Kind, subject: String = "") throws -> Bool {
        guard try isRaised(kind, subject: subject) else { return false }
        log(.alertCleared, ["kind": kind.rawValue, "subject": subject])
        _ = try write()
        try changelog.remove(key: Alert.key(kind, subject))
        publish(Alert.topic(kind), Hint(head: head))
        return true
    }

    /// What is raised of a kind, and since when.
    package func alerts(_ kind: Alert.Kind) throws -> [(subject: String, since: Instant)] {
        let find = try database.prepare("SELECT body FROM changes WHERE topic = ? AND body IS NOT NULL")
        find.bind(1, Alert.topic(kind))
        var raised: [(String, Instant)] = []
        try find.forEachRow { row in
            let body = try CBORDecoder.decode(row.bytes(0))
            raised.append((body["subject"].string ?? "", body["since"].int ?? 0))
        }
        return raised
    }

    package func isRaised(_ kind: Alert.Kind, subject: String = "") throws -> Bool {
        let find = try database.prepare("SELECT 1 FROM changes WHERE key = ? AND body IS NOT NULL")
        find.bind(1, Alert.key(kind, subject))
        return try find.firstRow { _ in true } ?? false
    }
}
