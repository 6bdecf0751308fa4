import HealthModel
import Protocol

/// The position in the observer's changelog up to which a follower has everything. Clients send it back unchanged.
///
/// Sequences are handed out by the store's only writer and committed in order, so nothing can appear below a position
/// that was once read. A position belongs to one generation of the store and to one person, because the changes of
/// other people up to that position were never sent.
package struct ChangesCursor: Equatable {
    package var generation: String
    package var sequence: SequenceNumber
    private var owner: String
    /// Nil in cursors from earlier releases.
    private var incarnation: String?

    package init(_ head: StoreHead, at sequence: SequenceNumber, user: String) {
        (generation, self.sequence, owner) = (head.generation, sequence, Self.owner(user))
        incarnation = head.incarnation
    }

    /// nil for any string that `text` can't have produced.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), !parts[0].isEmpty, let number = Int64(parts[1]), number >= 0 else {
            return nil
        }
        (generation, sequence, owner) = (String(parts[0]), SequenceNumber(number), String(parts[2]))
        incarnation = parts.count == 4 ? String(parts[3]) : nil
    }

    package var text: String { "\(generation).\(sequence).\(owner)" + (incarnation.map { ".\($0)" } ?? "") }

    /// Whether the position is from this history of the store, not beyond its head, and for that person. A store
    /// restored from a backup either has a new generation or hasn't reached that position; one that was put back by hand
    /// doesn't know the position's incarnation, and finds that out itself.
    package func isKnown(to head: StoreHead, user: String) -> Bool {
        generation == head.generation && sequence <= head.sequence && owner == Self.owner(user)
    }

    /// Where the observer may be asked to continue: never beyond its head, since a position that a store hasn't reached
    /// would prove that it has lost rows. nil if the position is from another history.
    package func place(in head: StoreHead) -> PullPlace? {
        guard generation == head.generation else { return nil }
        var place = PullPlace(of: head, after: min(sequence, head.sequence))
        place.incarnation = incarnation
        return place
    }

    /// Not the name itself: a cursor may end up in a log.
    private static func owner(_ user: String) -> String { String(ContentNumber.text(user), radix: 36) }
}
