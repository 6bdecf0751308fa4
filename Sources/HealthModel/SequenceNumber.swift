/// The position of a change in a producer's changelog. The changelog's only writer assigns them in strictly ascending
/// order, with gaps.
///
/// Anchors, heads and windows are made of sequence numbers. A sequence number is meaningful only within its store. On
/// the wire and in files it is a bare integer, as in the columns of pages and tables. Loops over rows compare `value`
/// directly, since an operator from another module would be a function call.
///
/// It isn't a time, although a store's first sequence number is derived from the time; nor is it a count, although `-`
/// returns one. The numbers of list entries (quarantine, dead letters, rounds), epochs, launches and day revisions
/// aren't sequence numbers. Neither is anything that belongs to a backend: its own sequence, and the versions that it
/// compares. Anything sent carries the sequence of its change as its version; code that looks for that change turns the
/// version back into a sequence number.
package struct SequenceNumber: Hashable, Sendable {
    package var value: Int64

    package init(_ value: Int64) { self.value = value }

    /// Before every change: the position of a consumer without an anchor.
    package static var beginning: SequenceNumber { SequenceNumber(0) }
    /// After every change: used as the end of a window without an end.
    package static var end: SequenceNumber { SequenceNumber(.max) }

    /// The next one.
    package var next: SequenceNumber { SequenceNumber(value + 1) }
    /// The previous sequence number: a consumer whose anchor is there has yet to receive this change.
    package var previous: SequenceNumber { SequenceNumber(value - 1) }

    /// How many sequence numbers there are after `earlier` and up to `later`, including gaps; negative if `later` comes
    /// first.
    package static func - (later: SequenceNumber, earlier: SequenceNumber) -> Int64 { later.value - earlier.value }
}

extension SequenceNumber: Comparable {
    package static func < (a: SequenceNumber, b: SequenceNumber) -> Bool { a.value < b.value }
}

extension SequenceNumber: Codable {
    package init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Int64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension SequenceNumber: CustomStringConvertible {
    /// The form used in messages to people, in logs and in keys.
    package var description: String { "\(value)" }
}
