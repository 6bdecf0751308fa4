import HealthModel

/// Whose days are to be done once more, as `replay` and requests name them.
package enum ReplayUsers {
    /// By user `[from, to]`, the instants of these days.
    package static func spans(
        from: LocalDay, through: LocalDay, _ zones: [String: ZoneTimeline]
    ) -> [String: [Instant]] {
        zones.mapValues { timeline in
            let first = timeline.ranges(of: from).first?.lowerBound
            let last = timeline.ranges(of: through).last?.upperBound
            // A date that was left out has no instants: the days beside it bound the span.
            return [
                first ?? timeline.ranges(of: from.adding(days: 1)).first?.lowerBound ?? .epoch,
                last ?? timeline.ranges(of: through.adding(days: -1)).last?.upperBound ?? .epoch,
            ]
        }
    }
}
