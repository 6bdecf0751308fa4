import HealthModel

/// The users whose days are to be processed again, as named by `replay` and in requests.
package enum ReplayUsers {
    /// For each user, the instants of these days: `[from, to]`.
    package static func spans(
        from: LocalDay, through: LocalDay, _ zones: [String: ZoneTimeline]
    ) -> [String: [Instant]] {
        zones.mapValues { timeline in
            let first = timeline.ranges(of: from).first?.lowerBound
            let last = timeline.ranges(of: through).last?.upperBound
            // A skipped date has no instants, so the days on either side bound the span.
            return [
                first ?? timeline.ranges(of: from.adding(days: 1)).first?.lowerBound ?? .epoch,
                last ?? timeline.ranges(of: through.adding(days: -1)).last?.upperBound ?? .epoch,
            ]
        }
    }
}
