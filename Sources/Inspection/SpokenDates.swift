import HealthModel

/// Days as people write them: `2025-03-30`, `2025-03`, `2025`, `today`, `yesterday`, `last-week`, `7d`.
package struct SpokenDates: Sendable, Equatable {
    package let first: LocalDay
    package let last: LocalDay

    private init(_ first: LocalDay, _ last: LocalDay) { (self.first, self.last) = (first, last) }

    /// The allowed forms, for help and errors.
    package static let forms = "2025-03-30, 2025-03, 2025, today, yesterday, last-week, this-month, 7d, 4w, 1y"

    /// nil for text that doesn't name any days.
    ///
    /// `7d`, `4w` and `1y` are that many days, weeks or years ending today. A week begins on Monday; last-week is the
    /// one before the current one.
    package init?(_ text: String, today: LocalDay) {
        if let day = LocalDay(text) {
            self.init(day, day)
        } else if let period = Self.period(text, today) ?? Self.calendar(text) ?? Self.span(text, today) {
            self = period
        } else {
            return nil
        }
    }

    /// Whether the text will mean different days tomorrow.
    package static func isRelative(_ text: String) -> Bool { LocalDay(text) == nil && calendar(text) == nil }

    private static func period(_ text: String, _ today: LocalDay) -> Self? {
        switch text.lowercased() {
        case "today": return Self(today, today)
        case "yesterday": return Self(today.adding(days: -1), today.adding(days: -1))
        case "this-week": return week(of: today)
        case "last-week", "week": return week(of: today.adding(days: -7))
        case "this-month": return month(today.year, today.month)
        case "last-month", "month":
            return today.month == 1 ? month(today.year - 1, 12) : month(today.year, today.month - 1)
        case "this-year": return year(today.year)
        case "last-year", "year": return year(today.year - 1)
        default: return nil
        }
    }

    /// 1970-01-01 was a Thursday.
    private static func week(of day: LocalDay) -> Self {
        let weekday = ((day.number + 3) % 7 + 7) % 7
        let monday = day.adding(days: -weekday)
        return Self(monday, monday.adding(days: 6))
    }

    private static func month(_ year: Int, _ month: Int) -> Self? {
        let first = LocalDay(year: year, month: month, day: 1)
        guard LocalDay(number: first.number) == first else { return nil }
        let next = LocalDay(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
        return Self(first, next.adding(days: -1))
    }

    private static func year(_ year: Int) -> Self {
        Self(LocalDay(year: year, month: 1, day: 1), LocalDay(year: year, month: 12, day: 31))
    }

    private static func calendar(_ text: String) -> Self? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), parts.first?.utf8.count == 4,
            let number = parts.first.flatMap({ Int($0) })
        else { return nil }
        if parts.count == 1 { return year(number) }
        guard parts.count == 2, parts[1].utf8.count == 2, let which = Int(parts[1]), (1...12).contains(which) else {
            return nil
        }
        return month(number, which)
    }

    private static func span(_ text: String, _ today: LocalDay) -> Self? {
        guard let unit = text.last, text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int(text.dropLast()), (1...100_000).contains(count)
        else { return nil }
        switch unit {
        case "d": return Self(today.adding(days: 1 - count), today)
        case "w": return Self(today.adding(days: 1 - 7 * min(count, 10_000)), today)
        case "y":
            let year = today.year - min(count, 1000)
            // 29 February exists in few years.
            let day = min(today.day, month(year, today.month)?.last.day ?? today.day)
            return Self(LocalDay(year: year, month: today.month, day: day).adding(days: 1), today)
        default: return nil
        }
    }
}
