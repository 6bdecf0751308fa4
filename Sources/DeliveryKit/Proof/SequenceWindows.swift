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

    /// The same without joining windows: those beyond the limit are left out.
    package static func exact(
        _ sequences: [SequenceNumber], limit: Int
    ) -> [(after: SequenceNumber, until: SequenceNumber)] {
        var windows: [(after: SequenceNumber, until: SequenceNumber)] = []
        for sequence in sequences.sorted() {
            if let last = windows.last, sequence <= last.until.next {
                windows[windows.count - 1].until = max(last.until, sequence)
            } else if windows.count < limit {
                windows.append((sequence.previous, sequence))
            } else {
                break
            }
        }
        return windows
    }
}
