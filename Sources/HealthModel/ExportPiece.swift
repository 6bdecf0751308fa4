/// Identifies a piece of an export, which is a few hundred consecutive records, by its content. The same piece in a
/// later export holds the same records.
package struct PieceHash: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    /// Computed as the XXH3-128 of the piece, without the memory addresses printed with devices.
    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    package init(_ hash: ContentHash) { (high, low) = hash.words }
}

/// Where a piece of an export ends within a batch.
package struct PieceEnd: Sendable, Equatable {
    /// The number of rows in the batch that come before that end.
    package var rows: Int
    /// Nil for a piece that must be read again each time, because it holds something other than whole records, or
    /// begins or ends within one.
    package var hash: PieceHash?

    package init(rows: Int, hash: PieceHash?) { (self.rows, self.hash) = (rows, hash) }
}
