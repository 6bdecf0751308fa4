/// Stretches of time, in whole seconds since 1970, with those close to each other joined.
package struct TimeSpans {
    package private(set) var spans: [ClosedRange<Int64>] = []
    /// In seconds.
    private static let gap: Int64 = 600
    private static let enough = 512

    package init() {}

    package mutating func add(_ span: ClosedRange<Int64>) {
        if let last = spans.last, span.lowerBound <= last.upperBound &+ Self.gap,
            span.upperBound >= last.lowerBound &- Self.gap
        {
            spans[spans.count - 1] =
                min(last.lowerBound, span.lowerBound)...max(last.upperBound, span.upperBound)
            return
        }
        spans.append(span)
        if spans.count % Self.enough == 0 { join() }
    }

    /// Sorts the stretches and joins them again.
    package mutating func join() {
        let sorted = spans.sorted { $0.lowerBound < $1.lowerBound }
        spans.removeAll(keepingCapacity: true)
        for span in sorted {
            if let last = spans.last, span.lowerBound <= last.upperBound &+ Self.gap {
                spans[spans.count - 1] = last.lowerBound...max(last.upperBound, span.upperBound)
            } else {
                spans.append(span)
            }
        }
    }
}
