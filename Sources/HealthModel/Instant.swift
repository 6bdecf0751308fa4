/// A moment of the wall clock, to the microsecond. The time between two moments is a `Duration`.
///
/// It is an integer, so that equal moments are equal everywhere and sums don't drift. Nothing else can be passed as an
/// instant by mistake: durations, counts and local clock times have types of their own. Columns of samples, tables, and
/// the loops over them use plain microseconds.
public struct Instant: Hashable, Sendable {
    /// Since 1970-01-01T00:00:00Z.
    public let microseconds: Int64

    /// The moment this many microseconds after 1970-01-01T00:00:00Z; before it if negative.
    @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

    /// The moment this many seconds after 1970-01-01T00:00:00Z; before it if negative.
    @inlinable public init(seconds: Int64) { self.init(microseconds: seconds * Self.microsecondsPerSecond) }

    /// 1970-01-01T00:00:00Z.
    @inlinable public static var epoch: Instant { Instant(microseconds: 0) }
    /// Earlier than anything ever measured; used as the start of a range without a start. No duration can be subtracted
    /// from it.
    @inlinable public static var distantPast: Instant { Instant(microseconds: .min) }
    /// Later than anything ever measured; used as the end of a range without an end. No duration can be added to it.
    @inlinable public static var distantFuture: Instant { Instant(microseconds: .max) }

    /// For code that works on plain microseconds, such as loops over columns.
    @inlinable public static var microsecondsPerSecond: Int64 { 1_000_000 }

    /// The whole second (since 1970) that contains this instant, rounded down before 1970 as well.
    @inlinable public var flooredSecond: Int64 {
        let quotient = microseconds / Self.microsecondsPerSecond
        return microseconds % Self.microsecondsPerSecond < 0 ? quotient - 1 : quotient
    }

    /// Seconds since 1970 with their fraction, which is how other clocks and libraries count time.
    @inlinable public var secondsSince1970: Double { Double(microseconds) / 1_000_000 }
}

extension Instant: Comparable {
    @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.microseconds < b.microseconds }
}

extension Instant {
    /// How much later `a` is than `b`; negative if `b` is later.
    @inlinable public static func - (a: Instant, b: Instant) -> Duration {
        .microseconds(a.microseconds - b.microseconds)
    }

    /// The instant this much later, to the nearest microsecond.
    @inlinable public static func + (instant: Instant, length: Duration) -> Instant {
        Instant(microseconds: instant.microseconds + length.microseconds)
    }

    /// The instant this much earlier, to the nearest microsecond.
    @inlinable public static func - (instant: Instant, length: Duration) -> Instant {
        Instant(microseconds: instant.microseconds - length.microseconds)
    }

    /// Moves the instant forward by a length of time.
    @inlinable public static func += (instant: inout Instant, length: Duration) { instant = instant + length }
}

/// In messages and files, an instant is just its integer of microseconds.
extension Instant: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }
}

extension Range<Instant> {
    /// The same range in plain microseconds, for loops over columns.
    @inlinable public var microseconds: Range<Int64> { lowerBound.microseconds..<upperBound.microseconds }

    /// Makes a range from microseconds since 1970.
    @inlinable public init(microseconds range: Range<Int64>) {
        self = Instant(microseconds: range.lowerBound)..<Instant(microseconds: range.upperBound)
    }
}

extension Duration {
    /// The length to the nearest microsecond, which is the unit of columns, messages and instants.
    @inlinable public var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let half: Int64 = attoseconds < 0 ? -500_000_000_000 : 500_000_000_000
        return seconds * 1_000_000 + (attoseconds + half) / 1_000_000_000_000
    }

    /// Seconds including the fraction: the double nearest to the whole microseconds.
    public var seconds: Double {
        let (seconds, attoseconds) = components
        return (Double(seconds) * 1_000_000 + Double(attoseconds) / 1_000_000_000_000) / 1_000_000
    }
}
