import HealthModel

/// An uploader: its dead letters.
package struct LettersQuery: Query {
    package typealias Answer = LettersPage
    package static let name = "letters"

    @IfReadable var numbers: [Int64]?
    @IfReadable var reason: String?
    @IfReadable var type: String?
    /// Instead, the elements whose letter a person dropped.
    @IfReadable package var dropped: Bool?
    @IfReadable package var `continue`: Int64?

    package var selection: RepairSelection { RepairSelection(numbers: numbers, reason: reason, type: type) }
}

extension Query where Self == LettersQuery {
    package static func letters(_ selection: RepairSelection, dropped: Bool? = nil, after: Int64? = nil) -> Self {
        Self(
            numbers: selection.numbers, reason: selection.reason, type: selection.type, dropped: dropped,
            continue: after)
    }
}

/// A page of dead letters, oldest first.
package struct LettersPage: PageContent, Equatable {
    package var letters: [DeadLetter]
    /// Included only if requested, and then instead of the letters.
    package var dropped: [DroppedElement]?
    /// Set on the last part if there is more: pass it in the next request.
    package var `continue`: Int64?

    package init(letters: [DeadLetter], dropped: [DroppedElement]? = nil, continue number: Int64? = nil) {
        (self.letters, self.dropped) = (letters, dropped)
        `continue` = number
    }
}

/// An element that the backend refused and that a person dropped in this version, so that it doesn't count as missing
/// at the backend.
package struct DroppedElement: Codable, Sendable, Equatable {
    /// Rises with each dropped element.
    package var number: Int64
    package var user: String
    /// The metric family that its path belongs to.
    package var metric: String
    package var id: String
    /// The sequence of its change.
    package var version: Int64

    package init(number: Int64, user: String, metric: String, id: String, version: Int64) {
        (self.number, self.user, self.metric) = (number, user, metric)
        (self.id, self.version) = (id, version)
    }
}

/// An element that the backend wouldn't accept: which one, which version, and why. Its content isn't kept; a retry
/// fetches it from its producer.
package struct DeadLetter: Codable, Sendable, Equatable {
    /// Rises with each dead letter.
    package var number: Int64
    package var user: String
    /// The metric family that its path belongs to.
    package var metric: String
    package var id: String
    /// The sequence of its change.
    package var version: Int64
    package var reason: String
    /// The path that it is sent to.
    package var path: String
    /// The HTTP status of the answer; nil if unknown.
    @OrNull package var status: Int?
    package var firstTried: Instant
    package var lastTried: Instant
    package var tries: Int64

    /// The sequence of its change.
    package var sequence: SequenceNumber { SequenceNumber(version) }

    package init(
        number: Int64, user: String, metric: String, id: String, version: Int64, reason: String, path: String,
        status: Int?, firstTried: Instant, lastTried: Instant, tries: Int64
    ) {
        (self.number, self.user, self.metric, self.id, self.version) = (number, user, metric, id, version)
        (self.reason, self.path, self.status, self.firstTried) = (reason, path, status, firstTried)
        (self.lastTried, self.tries) = (lastTried, tries)
    }
}
