/// The place of a change in a producer's changelog: its file's one writer gives them out, strictly rising, with holes.
///
/// Anchors, heads and windows are made of it. It means something only within one store. On the wire and in files it is the bare
/// integer, as in the columns of pages and tables. Loops over rows compare `value`: an operator of another module is a call.
///
/// It is no time, though a store's first one is made from one, and no count: `-` counts. Numbers in lists (quarantine, letters,
/// rounds), epochs, launches and the revisions of days aren't sequences; nor is what belongs to a backend, its own sequence and the
/// versions that it compares. What is sent has the sequence of its change for its version: whoever looks for that change makes it
/// a sequence again.
package struct SequenceNumber: Hashable, Sendable {
    package var value: Int64

    package init(_ value: Int64) { self.value = value }

    /// Before every change: where a consumer without an anchor stands.
    package static var beginning: SequenceNumber { SequenceNumber(0) }
    /// Beyond every change: the end of a window that has none.
    package static var end: SequenceNumber { SequenceNumber(.max) }

    /// The one right behind.
    package var next: SequenceNumber { SequenceNumber(value + 1) }
    /// The one right before: an anchor there has this one still to come.
    package var previous: SequenceNumber { SequenceNumber(value - 1) }

    /// How many sequences there are after `earlier` up to `later`, holes included; negative the other way round.
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
    /// As people, logs and keys have it.
    package var description: String { "\(value)" }
}
