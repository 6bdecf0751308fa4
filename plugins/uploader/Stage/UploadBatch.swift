/// Which elements of a batch are still to be sent: whole at first, in ever smaller parts where a part is refused.
///
/// One poison element among n is found with about 2 · log2 n requests; everything around it is delivered.
public struct UploadBatch: Sendable, Equatable {
    /// Parts in order; the first is the next to send.
    public private(set) var parts: [Range<Int>]

    public init(count: Int) { parts = count > 0 ? [0..<count] : [] }

    /// What to send now; nil when all of it is settled.
    public var next: Range<Int>? { parts.first }

    /// The first part is delivered, or put aside.
    public mutating func settle() {
        if !parts.isEmpty { parts.removeFirst() }
    }

    /// The first part is to go in two halves; a single element stays as it is.
    public mutating func split() {
        guard let part = parts.first, part.count > 1 else { return }
        let middle = part.lowerBound + part.count / 2
        parts.replaceSubrange(0...0, with: [part.lowerBound..<middle, middle..<part.upperBound])
    }
}
