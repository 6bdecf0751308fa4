extension ZoneTimeline {
    /// Whether a day holds other instants by another timeline, or other hours.
    ///
    /// A night's day is taken from noon of the day before, so that it doesn't matter at which hour nights are parted.
    public func differs(from other: ZoneTimeline, on day: LocalDay, _ kind: HandlerWindow = .localDay) -> Bool {
        let local = Self.localStart(of: day)
        let from = kind == .night ? local - Self.dayLength / 2 : local
        let range = from..<local + Self.dayLength
        return offsets.pieces(ofLocal: range) != other.offsets.pieces(ofLocal: range)
    }

    /// Days on which samples of this day may lie by another timeline: a flight from one side of the date line to the other moves
    /// the clock by up to 26 hours.
    public static func neighbours(of day: Int) -> ClosedRange<Int> { day - 2...day + 2 }
}
