/// Something that a person should know about, raised once and cleared once.
///
/// An alert is a row of the raising stage's own changelog under the topic `alert.<kind>`: it is committed together with
/// its cause, and anyone interested pulls it like any other row.
package struct Alert: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Background delivery has stopped: fires weren't acknowledged, or a registration was refused.
        case deliveryStopped = "delivery-stopped"
        /// A locked phone has held changes back for an hour.
        case unlockReminder = "unlock-reminder"
        /// A workout that ended a short while ago has arrived.
        case workoutRecorded = "workout-recorded"
        /// Syncs are failing, or nothing reaches the backend although data is waiting.
        case degraded
        /// A handler can't compute some days: their figures stay as they were.
        case failedDays = "failed-days"
        /// A destination has refused elements for good.
        case deadLetters = "dead-letters"

        /// Whether it only reports what has happened, or what passes in the course of any day: nothing is wrong then.
        /// Every other kind says that something is wrong.
        package var isNews: Bool {
            switch self {
            case .workoutRecorded, .unlockReminder: true
            case .deliveryStopped, .degraded, .failedDays, .deadLetters: false
            }
        }
    }

    package var kind: Kind
    /// What the alert is about within its kind (a type, a workout's id); empty when the kind says it all. Never a
    /// health value.
    package var subject: String
    /// What happened, human-readable.
    package var text: String
    /// What to do now, human-readable.
    package var remedy: String

    package init(_ kind: Kind, subject: String = "", text: String, remedy: String) {
        (self.kind, self.subject, self.text, self.remedy) = (kind, subject, text, remedy)
    }

    package static let topicPrefix = "alert."
    package static func topic(_ kind: Kind) -> String { topicPrefix + kind.rawValue }
    package static func key(_ kind: Kind, _ subject: String) -> String { "alert/\(kind.rawValue)/\(subject)" }
}
