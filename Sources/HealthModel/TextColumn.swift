/// A column of strings in one buffer: UTF-8 bytes, and the position where each string ends. Needs no allocation per
/// row.
public struct TextColumn: Sendable, Equatable {
    /// The text of all rows, one after the other.
    public var bytes: [UInt8]
    /// `ends[i]` is where row i ends in `bytes`; the row starts where row i − 1 ends.
    public var ends: [Int32]

    /// A column without rows.
    public init() {
        bytes = []
        ends = []
    }

    /// A column of rows stored in `bytes`, with the end of each in `ends`.
    public init(bytes: [UInt8], ends: [Int32]) { (self.bytes, self.ends) = (bytes, ends) }

    /// The number of rows.
    public var count: Int { ends.count }

    /// The range of a row's text in `bytes`.
    public func range(_ row: Int) -> Range<Int> { (row == 0 ? 0 : Int(ends[row - 1]))..<Int(ends[row]) }

    /// Whether a row has no text.
    public func isEmpty(_ row: Int) -> Bool { range(row).isEmpty }

    /// The row's text in UTF-8; nil if it has none, or in a page without this column.
    @inlinable package func utf8(_ row: Int) -> ArraySlice<UInt8>? {
        ends.isEmpty || isEmpty(row) ? nil : bytes[range(row)]
    }

    /// The row's text; empty if it has none.
    public subscript(_ row: Int) -> String { String(decoding: bytes[range(row)], as: UTF8.self) }

    /// Adds a row.
    public mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        ends.append(Int32(bytes.count))
    }

    /// Adds a row of UTF-8.
    public mutating func append(bytes new: some Sequence<UInt8>) {
        bytes.append(contentsOf: new)
        ends.append(Int32(bytes.count))
    }

    /// Adds a row of UTF-8. Not generic, because that would be many times slower across modules.
    public mutating func append(bytes new: UnsafeRawBufferPointer) {
        if !new.isEmpty { bytes.append(contentsOf: new) }
        ends.append(Int32(bytes.count))
    }

    /// Adds a row of UTF-8, as above.
    public mutating func append(bytes new: [UInt8]) {
        if !new.isEmpty { bytes.append(contentsOf: new) }
        ends.append(Int32(bytes.count))
    }

    /// Adds a row without text.
    public mutating func appendEmpty() { ends.append(Int32(bytes.count)) }

    /// Removes all rows.
    public mutating func removeAll(keepingCapacity: Bool = true) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        ends.removeAll(keepingCapacity: keepingCapacity)
    }
}
