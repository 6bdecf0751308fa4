import Changelog
import HealthModel
import Protocol
import SQLite

extension Turn {
    /// Raises an alert unless it is already raised; returns true if it is new.
    /// - Parameter user: the person whose data the alert concerns; empty when it concerns the stack.
    @discardableResult
    package func raise(_ alert: Alert, user: String = "") throws -> Bool {
        guard try !isRaised(alert.kind, subject: alert.subject) else { return false }
        log(.alertRaised, ["kind": alert.kind.rawValue, "subject": alert.subject])
        _ = try write()
        try changelog.put(
            key: Alert.key(alert.kind, alert.subject), topic: Alert.topic(alert.kind), user: user, day: nil,
            body: Value(
                RaisedAlert(
                    kind: alert.kind.rawValue, subject: alert.subject, text: alert.text, remedy: alert.remedy,
                    since: now)))
        hint(Alert.topic(alert.kind))
        return true
    }

    /// Clears an alert; returns true if it was raised.
    @discardableResult
    package func clear(_ kind: Alert.Kind, subject: String = "") throws -> Bool {
        guard try isRaised(kind, subject: subject) else { return false }
        log(.alertCleared, ["kind": kind.rawValue, "subject": subject])
        _ = try write()
        try changelog.remove(key: Alert.key(kind, subject))
        hint(Alert.topic(kind))
        return true
    }

    /// The raised alerts of a kind, and when each was raised.
    package func alerts(_ kind: Alert.Kind) throws -> [(subject: String, since: Instant)] {
        let find = try database.prepare("SELECT body FROM changes WHERE topic = ? AND body IS NOT NULL")
        return try find.with(Alert.topic(kind)).rows { row in
            let reported = try CBORDecoder.decode(row.bytes(0)).read(RaisedAlert.self)
            return (reported?.subject ?? "", reported?.since ?? .epoch)
        }
    }

    package func isRaised(_ kind: Alert.Kind, subject: String = "") throws -> Bool {
        try database.prepare("SELECT 1 FROM changes WHERE key = ? AND body IS NOT NULL")
            .with(Alert.key(kind, subject)).hasRow()
    }
}
