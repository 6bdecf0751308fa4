extension ZoneTimeline {
    /// Whether a day's window holds other instants by another timeline, or other hours.
    package func differs(from other: ZoneTimeline, on day: LocalDay, _ window: HandlerWindow = .localDay) -> Bool {
        let local = local(of: day, window)
        return offsets.pieces(ofLocal: local) != other.offsets.pieces(ofLocal: local)
    }

    /// Days on which samples of this day may lie by another timeline: a flight from one side of the date line to the other moves
    /// the clock by up to 26 hours.
    package static func neighbours(of day: Int) -> ClosedRange<Int> { day - 2...day + 2 }
}
