import HealthModel

/// The period over which the app has aggregated, if a request states it.
enum AutoExportAggregation: Equatable {
    /// Nothing is aggregated.
    case samples
    case period(AutoExportPeriod)
    /// Nothing is stated, but all of the metric's dates begin this period.
    case inferred(AutoExportPeriod)
    /// The period is unknown; any period suggested by the dates is at most this long.
    case unknown(atMost: AutoExportPeriod)

    /// Reads the header's text, in upper or lower case, singular or plural: `Minutes`, `hours`, `Day`, `none`.
    init(header: String?) {
        let text = (header ?? "").lowercased().filter(\.isLetter)
        switch text {
        case "none", "off", "false", "no", "raw", "unaggregated", "disabled": self = .samples
        case "seconds", "second": self = .period(.second)
        case "minutes", "minute": self = .period(.minute)
        case "hours", "hour", "hourly": self = .period(.hour)
        case "days", "day", "daily": self = .period(.day)
        case "weeks", "week", "weekly": self = .period(.week)
        case "months", "month", "monthly": self = .period(.month)
        case "years", "year", "yearly": self = .period(.year)
        case "default": self = .unknown(atMost: .minute)
        default: self = .unknown(atMost: .day)
        }
    }
}

/// A calendar period, which begins according to the wall clock.
enum AutoExportPeriod: Int, Comparable {
    case second, minute, hour, day, week, month, year

    static func < (a: AutoExportPeriod, b: AutoExportPeriod) -> Bool { a.rawValue < b.rawValue }

    /// The longest of a day, an hour and a minute that may begin at this date; nil if none may.
    static func beginning(at date: AutoExportDate) -> AutoExportPeriod? {
        let inDay = date.inDay
        if inDay == 0 { return .day }
        if inDay % hourLength == 0 { return .hour }
        return inDay % minuteLength == 0 ? .minute : nil
    }

    /// Whether such a period may begin at this date. Weeks, months and years begin at some midnight; the day depends on
    /// the person's settings.
    func mayBegin(at date: AutoExportDate) -> Bool {
        guard self != .second else { return true }
        return AutoExportPeriod.beginning(at: date).map { $0 >= min(self, .day) } ?? false
    }

    /// The end of the period that begins at this date. A day, and anything longer, ends at a midnight; its offset is
    /// taken to be that of the date unless that midnight is known.
    /// - Parameter midnights: known ones, by the number of the day that begins.
    func end(from date: AutoExportDate, midnights: [Int: Instant] = [:]) -> Instant {
        switch self {
        case .second: shifted(date, Instant.microsecondsPerSecond)
        case .minute: shifted(date, Self.minuteLength)
        case .hour: shifted(date, Self.hourLength)
        case .day: end(LocalDay(number: date.day.number + 1), date, midnights)
        case .week: end(LocalDay(number: date.day.number + 7), date, midnights)
        case .month: end(Self.later(date.day, months: 1), date, midnights)
        case .year: end(Self.later(date.day, months: 12), date, midnights)
        }
    }

    private func shifted(_ date: AutoExportDate, _ length: Int64) -> Instant {
        Instant(microseconds: date.instant.microseconds + length)
    }

    private func end(_ day: LocalDay, _ date: AutoExportDate, _ midnights: [Int: Instant]) -> Instant {
        if date.inDay == 0, let known = midnights[day.number], known > date.instant { return known }
        return Instant(microseconds: date.midnight(of: day).microseconds + date.inDay)
    }

    /// The same day in a later month; if there is no such day, the first day of the month after that.
    private static func later(_ day: LocalDay, months: Int) -> LocalDay {
        let month = day.month - 1 + months
        let later = LocalDay(year: day.year + month / 12, month: month % 12 + 1, day: day.day)
        guard LocalDay(number: later.number) != later else { return later }
        return LocalDay(year: day.year + (month + 1) / 12, month: (month + 1) % 12 + 1, day: 1)
    }

    private static let minuteLength = 60 * Instant.microsecondsPerSecond
    private static let hourLength = 60 * minuteLength
}
