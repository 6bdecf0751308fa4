import HealthModel

/// The stretch of time in one file: for samples a day or a month in UTC, for days, nights and workouts a year of local
/// dates.
package struct FilePeriod: Hashable, Sendable {
    package enum Unit: String, Sendable { case year, month, day }

    package let unit: Unit
    package let first: LocalDay

    package init(_ unit: Unit, of day: LocalDay) {
        self.unit = unit
        first = LocalDay(
            year: day.year, month: unit == .year ? 1 : day.month, day: unit == .day ? day.day : 1)
    }

    /// The period that contains a moment, in UTC.
    package init(_ unit: Unit, at time: Instant) {
        let length = 86_400 * Instant.microsecondsPerSecond
        let (quotient, rest) = time.microseconds.quotientAndRemainder(dividingBy: length)
        self.init(unit, of: LocalDay(number: Int(rest < 0 ? quotient - 1 : quotient)))
    }

    /// The first day after the period.
    package var next: LocalDay {
        switch unit {
        case .year: LocalDay(year: first.year + 1, month: 1, day: 1)
        case .month:
            first.month == 12
                ? LocalDay(year: first.year + 1, month: 1, day: 1)
                : LocalDay(year: first.year, month: first.month + 1, day: 1)
        case .day: first.adding(days: 1)
        }
    }

    /// Days since 1970.
    package var days: ClosedRange<Int> { first.number...next.number - 1 }
    package var instants: Range<Instant> { SampleTimes.start(of: first)..<SampleTimes.start(of: next) }

    /// 2025, 2025-03 or 2025-03-30.
    package var text: String {
        let whole = first.description
        return switch unit {
        case .year: String(whole.dropLast(6))
        case .month: String(whole.dropLast(3))
        case .day: whole
        }
    }

    /// Accepts only what `text` produces.
    package init?(_ unit: Unit, text: some StringProtocol) {
        let rest =
            switch unit {
            case .year: "-01-01"
            case .month: "-01"
            case .day: ""
            }
        guard let day = LocalDay(text + rest) else { return nil }
        self.init(unit, of: day)
        guard self.text == text else { return nil }
    }
}
