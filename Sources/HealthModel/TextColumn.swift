/// A column of strings in one buffer: UTF-8 bytes and where each string ends. No allocation per row.
package struct TextColumn: Sendable, Equatable {
    package var bytes: [UInt8]
    /// `ends[i]` is where row i ends in `bytes`; it starts where row i − 1 ends.
    package var ends: [Int32]

    package init() {
        bytes = []
        ends = []
    }

    package init(bytes: [UInt8], ends: [Int32]) {
        self.bytes = bytes
        self.ends = ends
    }

    package var count: Int { ends.count }

    package func range(_ row: Int) -> Range<Int> { (row == 0 ? 0 : Int(ends[row - 1]))..<Int(ends[row]) }

    package func isEmpty(_ row: Int) -> Bool { range(row).isEmpty }

    /// The row's text; empty when the row has none.
    package subscript(_ row: Int) -> String { String(decoding: bytes[range(row)], as: UTF8.self) }

    package mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        ends.append(Int32(bytes.count))
    }

    package mutating func append(bytes new: some Sequence<UInt8>) {
        bytes.append(contentsOf: new)
        ends.append(Int32(bytes.count))
    }

    package mutating func appendEmpty() { ends.append(Int32(bytes.count)) }

    package mutating func removeAll(keepingCapacity: Bool = true) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        ends.removeAll(keepingCapacity: keepingCapacity)
    }
}
