import JSON
import SQLite

/// Decides which metadata is stored once in `texts` instead of in every row: strings that repeat within a short time.
/// Most metadata is one of a few strings; a string unique to its row stays in the row, and costs nothing extra.
///
/// Looks strings up in a small table of recent ones. Call `forget` after a transaction that didn't commit.
final class RepeatedTexts {
    /// Where a string is to be stored.
    enum Place: Equatable {
        /// In the row.
        case row
        /// In `texts`, under this number.
        case number(Int64)
    }

    private struct Slot {
        var bytes: [UInt8] = []
        /// 0 while the string has been seen only once.
        var number: Int64 = 0
    }

    private let texts: InternedTexts
    private var slots = Array(repeating: Slot(), count: slotCount)
    private static let slotCount = 1024
    /// The maximum length in bytes; longer strings are rarely repeated.
    private static let longest = 200

    init(_ texts: InternedTexts) { self.texts = texts }

    func place(of text: UnsafeRawBufferPointer) throws -> Place {
        guard text.count >= 8, text.count <= Self.longest else { return .row }
        let slot = Self.slot(of: text)
        guard slots[slot].bytes.holds(text) else {
            slots[slot] = Slot(bytes: [UInt8](text))
            return .row
        }
        if slots[slot].number == 0 { slots[slot].number = try texts.id(of: String(decoding: text, as: UTF8.self)) }
        return .number(slots[slot].number)
    }

    /// Whether the string was seen recently, and so has already been checked.
    func isKnown(_ text: UnsafeRawBufferPointer) -> Bool {
        text.count >= 8 && text.count <= Self.longest && slots[Self.slot(of: text)].bytes.holds(text)
    }

    func forget() { slots = Array(repeating: Slot(), count: Self.slotCount) }

    /// The string's slot, computed from its length and its first, middle and last eight bytes; two strings in the same
    /// slot merely evict each other.
    private static func slot(of text: UnsafeRawBufferPointer) -> Int {
        var hash = UInt64(text.count)
        for offset in [0, (text.count - 8) / 2, text.count - 8] {
            let word = text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
        }
        return Int(truncatingIfNeeded: hash >> 20) & (slotCount - 1)
    }
}
