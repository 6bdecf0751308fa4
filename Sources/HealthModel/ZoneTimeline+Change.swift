extension ZoneTimeline {
    /// Whether a day's window covers different instants, or different hours, in another timeline.
    package func differs(from other: ZoneTimeline, on day: LocalDay, _ window: HandlerWindow = .localDay) -> Bool {
        let local = local(of: day, window)
        return offsets.pieces(ofLocal: local) != other.offsets.pieces(ofLocal: local)
    }

    /// The days to which this day's samples may belong in another timeline: a flight across the date line moves the
    /// clock by up to 26 hours.
    package static func neighbours(of day: Int) -> ClosedRange<Int> { day - 2...day + 2 }
}
