import Logging

/// Keeps only the newest lines, however many are added.
package struct LastLines {
    private let limit: Int
    private var ring: [LogLine] = []
    /// The index of the oldest line once the ring is full.
    private var oldest = 0

    /// - Parameter limit: how many lines to keep.
    package init(_ limit: Int) { self.limit = limit }

    package mutating func add(_ line: LogLine) {
        guard limit > 0 else { return }
        if ring.count < limit {
            ring.append(line)
        } else {
            ring[oldest] = line
            oldest = (oldest + 1) % limit
        }
    }

    /// In the order in which they were added.
    package var lines: [LogLine] { Array(ring[oldest...] + ring[..<oldest]) }
}
