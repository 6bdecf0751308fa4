extension RecordBatch {
    /// Ends sums of whole days with the person's days. An app that prints offsets but no zone can't say when the clocks
    /// change, so such a sum was given 24 hours for each day.
    /// - Parameter timeline: the person's zones; a sum that doesn't begin with one of its days stays as it is.
    package mutating func endDays(on timeline: ZoneTimeline) {
        let isSum = types.map { name in
            HealthType.base(ofStatistics: name).map { $0 != HealthType.sleepIdentifier } ?? false
        }
        guard isSum.contains(true) else { return }
        for row in start.indices where isSum[Int(type[row])] {
            let length = end[row] - start[row]
            guard length > 0, length.isMultiple(of: Self.dayLength) else { continue }
            let day = timeline.day(of: startOf(row))
            let next = LocalDay(number: day.number + Int(length / Self.dayLength))
            guard timeline.ranges(of: day).first?.lowerBound == startOf(row),
                let end = timeline.ranges(of: next).first?.lowerBound, end > startOf(row)
            else { continue }
            self.end[row] = end.microseconds
        }
    }

    private static let dayLength = 86_400 * Instant.microsecondsPerSecond
}
