/// Rows in the binary format of `COPY`, written directly from columns.
package struct CopyRows {
    package private(set) var bytes: [UInt8]
    private let fields: Int16

    /// - Parameter fields: the number of fields in each row.
    package init(fields: Int, reserving capacity: Int = 0) {
        self.fields = Int16(fields)
        bytes = []
        bytes.reserveCapacity(capacity + 64)
        bytes += [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0]
        // No flags, and no header extension.
        for _ in 0..<8 { bytes.append(0) }
    }

    package mutating func beginRow() { append(fields) }

    /// All rows, followed by the end marker.
    package consuming func finished() -> [UInt8] {
        append(Int16(-1))
        return bytes
    }

    package mutating func null() { append(Int32(-1)) }

    package mutating func bool(_ value: Bool) {
        append(Int32(1))
        bytes.append(value ? 1 : 0)
    }

    package mutating func integer(_ value: Int64) {
        append(Int32(8))
        append(value)
    }

    /// Anything that isn't finite is NULL.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        append(Int32(8))
        append(Int64(bitPattern: value.bitPattern))
    }

    package mutating func uuid(high: UInt64, low: UInt64) {
        append(Int32(16))
        append(Int64(bitPattern: high))
        append(Int64(bitPattern: low))
    }

    /// - Parameter microseconds: since 1970.
    package mutating func time(_ microseconds: Int64) { integer(microseconds &- Self.epoch) }

    /// - Parameter day: days since 1970.
    package mutating func date(_ day: Int) {
        append(Int32(4))
        append(Int32(truncatingIfNeeded: day &- 10_957))
    }

    /// UTF-8.
    package mutating func text(_ text: some Collection<UInt8>) {
        append(Int32(text.count))
        bytes.append(contentsOf: text)
    }

    /// JSON in UTF-8.
    package mutating func json(_ text: some Collection<UInt8>) {
        append(Int32(text.count + 1))
        // The version of the format.
        bytes.append(1)
        bytes.append(contentsOf: text)
    }

    /// Appends a field that was made earlier by `field`.
    package mutating func raw(_ field: [UInt8]) { bytes.append(contentsOf: field) }

    /// A string as a field, for use in many rows; an empty one is NULL.
    package static func field(_ text: String) -> [UInt8] {
        var length = Int32(text.isEmpty ? -1 : text.utf8.count).bigEndian
        return withUnsafeBytes(of: &length) { Array($0) } + Array(text.utf8)
    }

    /// Midnight on 1 January 2000, from which the server counts.
    private static let epoch: Int64 = 946_684_800_000_000

    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
