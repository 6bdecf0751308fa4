import HealthModel

extension Verification {
    /// What to verify.
    package struct Scope: Sendable {
        /// nil for everybody.
        package var user: String?
        package var from: LocalDay?
        package var to: LocalDay?

        package init(user: String? = nil, from: LocalDay? = nil, to: LocalDay? = nil) {
            (self.user, self.from, self.to) = (user, from, to)
        }

        var isWhole: Bool { from == nil && to == nil }

        /// - Parameter day: that of an element; nil if it belongs to none, or if that is unknown.
        func holds(_ day: LocalDay?) -> Bool {
            guard let day else { return isWhole }
            return from.map { $0 <= day } ?? true && to.map { day <= $0 } ?? true
        }

        /// From the beginning of the first requested day to the end of the last one. For a date that was skipped, the
        /// nearest one inside the range counts.
        package func span(in zones: ZoneTimeline) -> Range<Instant> {
            let near = (0...3).lazy
            let first = from.flatMap { day in
                near.compactMap { zones.ranges(of: day.adding(days: $0)).first?.lowerBound }.first
            }
            let last = to.flatMap { day in
                near.compactMap { zones.ranges(of: day.adding(days: -$0)).last?.upperBound }.first
            }
            let start = first ?? .distantPast
            return start..<max(start, last ?? .distantFuture)
        }
    }
}
