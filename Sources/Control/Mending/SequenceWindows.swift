import HealthModel

/// Covers sequence numbers with a few windows.
package enum SequenceWindows {
    /// - Parameter limit: the maximum number of windows; if there are more, those closest together are joined.
    /// - Returns: windows in ascending order; each begins just after `after`, and includes `until`.
    package static func of(
        _ sequences: [SequenceNumber], limit: Int = 1000
    ) -> [(after: SequenceNumber, until: SequenceNumber)] {
        let rising = sequences.sorted()
        guard let first = rising.first, let last = rising.last else { return [] }
        // Adjacent numbers share a window anyway.
        var gaps: [Int64] = []
        for (sequence, next) in zip(rising, rising.dropFirst()) where next - sequence > 1 {
            gaps.append(next - sequence)
        }
        gaps.sort(by: >)
        let bridged = gaps.count >= limit ? gaps[limit - 1] : 1
        var windows: [(after: SequenceNumber, until: SequenceNumber)] = []
        var from = first
        for (sequence, next) in zip(rising, rising.dropFirst()) where next - sequence > bridged {
            windows.append((from.previous, sequence))
            from = next
        }
        windows.append((from.previous, last))
        return windows
    }
}
