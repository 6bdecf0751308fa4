extension ZoneTimeline {
    /// The zone in force at an instant.
    public func zone(at instant: Instant) -> String {
        var zone = entries[0].zone
        for entry in entries where entry.from <= instant { zone = entry.zone }
        return zone
    }

    /// How far the clock is ahead of UTC.
    public func offset(at instant: Instant) -> Duration {
        .microseconds(offsets.offsets[offsets.index(of: Self.clamped(instant))])
    }

    /// The local date of an instant.
    public func day(of instant: Instant) -> LocalDay {
        let instant = Self.clamped(instant)
        return LocalDay(number: Self.dayNumber(instant.microseconds + offsets.offsets[offsets.index(of: instant)]))
    }

    /// The instants with this local date, in order: usually one range of 23, 24 or 25 hours; two when a flight across
    /// the date line (or clocks put back over midnight) repeated the date; none when the date was skipped.
    public func ranges(of day: LocalDay) -> [Range<Instant>] {
        let start = Self.localStart(of: day)
        return offsets.ranges(ofLocal: start..<start + Self.dayLength)
    }

    /// The instants from the window's end hour on the local clock of the previous day to the same hour on this day. If
    /// that hour is 24, they are the day itself.
    public func window(of day: LocalDay, _ window: HandlerWindow = .localDay) -> [Range<Instant>] {
        offsets.ranges(ofLocal: local(of: day, window))
    }

    /// The times that the local clock shows during a window, in microseconds since 1970 as if local time were UTC.
    func local(of day: LocalDay, _ window: HandlerWindow) -> Range<Int64> {
        let end = Self.localStart(of: day) + Int64(window.endHour) * Self.hourLength
        return end - Self.dayLength..<end
    }

    /// The instants of a day's slice: its window, with each of its ranges widened.
    public func slice(of day: LocalDay, _ window: HandlerWindow) -> [Range<Instant>] {
        self.window(of: day, window).map { $0.lowerBound - window.before..<$0.upperBound + window.after }
    }

    /// The days whose slice overlaps an interval, in order. The end is exclusive, except for a sample without duration.
    public func days(touching start: Instant, end: Instant, _ window: HandlerWindow = .localDay) -> [LocalDay] {
        let first = Self.clamped(Self.clamped(start) - window.after)
        let reach = Self.clamped(end).microseconds + window.before.microseconds
        let last = max(first, Self.clamped(Instant(microseconds: reach - (end == start ? 0 : 1))))
        // A window that ends at 18:00 is a whole date on a clock that is six hours ahead.
        let shift = Self.dayLength - Int64(window.endHour) * Self.hourLength
        var numbers: [Int] = []
        var sorted = true
        for index in offsets.index(of: first)...offsets.index(of: last) {
            let offset = offsets.offsets[index] + shift
            let from = Self.dayNumber(max(first, offsets.starts[index]).microseconds + offset)
            let to = Self.dayNumber(min(last.microseconds, offsets.end(of: index).microseconds - 1) + offset)
            for number in from...to where number != numbers.last {
                if let previous = numbers.last, previous > number { sorted = false }
                numbers.append(number)
            }
        }
        if !sorted { numbers = Set(numbers).sorted() }
        return numbers.map(LocalDay.init(number:))
    }

    /// The day divided at the full hours of the local clock, in order: 24, 23 or 25 buckets, or another number on a day
    /// with a flight. Some may be only part of an hour if the clock changed.
    public func hours(of day: LocalDay) -> [Range<Instant>] {
        var hours: [Range<Instant>] = []
        for range in ranges(of: day) {
            var start = range.lowerBound
            while start < range.upperBound {
                let index = offsets.index(of: start)
                let local = start.microseconds + offsets.offsets[index]
                let nextHour = (local.flooredQuotient(Self.hourLength) + 1) * Self.hourLength - offsets.offsets[index]
                let end = min(Instant(microseconds: nextHour), range.upperBound, offsets.end(of: index))
                hours.append(start..<end)
                start = end
            }
        }
        return hours
    }

    /// A moment on the local clock with its offset, ISO 8601 to the second: `2025-03-30T03:00:00+02:00`.
    ///
    /// Historical offsets that include seconds are cut to minutes; the moment stays the same.
    package func localText(of instant: Instant) -> String {
        let minutes = offsets.offsets[offsets.index(of: instant)].flooredQuotient(60 * Instant.microsecondsPerSecond)
        let local = InstantText.iso8601(Instant(seconds: instant.flooredSecond + minutes * 60)).dropLast()
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return local + (minutes < 0 ? "-" : "+") + padded(abs(minutes) / 60) + ":" + padded(abs(minutes) % 60)
    }

    /// Whether a day is over, which is the case from one minute past the next midnight (or one minute past the first
    /// instant after the day).
    ///
    /// A date that was skipped is over one minute after the next one begins.
    public func isPast(_ day: LocalDay, at now: Instant) -> Bool { end(of: day).map { now >= $0 } ?? false }

    /// The moment from which a day is over (`isPast`); nil if so many dates were skipped that there is no such moment.
    package func end(of day: LocalDay) -> Instant? {
        var end = ranges(of: day).last?.upperBound
        for later in 1...3 where end == nil { end = ranges(of: day.adding(days: later)).first?.lowerBound }
        return end.map { $0 + .seconds(60) }
    }

    /// Microseconds.
    private static let hourLength = 3600 * Instant.microsecondsPerSecond
    static let dayLength = 24 * hourLength

    /// Midnight, microseconds since 1970 as if local time were UTC.
    static func localStart(of day: LocalDay) -> Int64 { Int64(day.number) * dayLength }

    private static func dayNumber(_ local: Int64) -> Int { Int(local.flooredQuotient(dayLength)) }

    private static func clamped(_ instant: Instant) -> Instant {
        min(max(instant, OffsetTimeline.earliest), OffsetTimeline.last)
    }

    /// Whether a day's window covers different instants, or different hours, in another timeline.
    package func differs(from other: ZoneTimeline, on day: LocalDay, _ window: HandlerWindow = .localDay) -> Bool {
        let local = local(of: day, window)
        return offsets.pieces(ofLocal: local) != other.offsets.pieces(ofLocal: local)
    }

    /// The days to which this day's samples may belong in another timeline: a flight across the date line moves the
    /// clock by up to 26 hours.
    package static func neighbours(of day: Int) -> ClosedRange<Int> { day - 2...day + 2 }
}
