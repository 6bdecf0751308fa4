/// A calendar date without a zone: 2025-03-30.
public struct LocalDay: Hashable, Comparable, Sendable {
    /// In the Gregorian calendar.
    public var year: Int
    /// 1 to 12.
    public var month: Int
    /// 1 to 31.
    public var day: Int

    /// A date with these numbers; whether that day exists isn't checked.
    public init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    public static func < (a: LocalDay, b: LocalDay) -> Bool { (a.year, a.month, a.day) < (b.year, b.month, b.day) }
}

extension LocalDay: CustomStringConvertible, LosslessStringConvertible {
    public var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
    }

    /// Reads exactly `yyyy-MM-dd` of the Gregorian calendar; nil for anything else, including 2025-02-30.
    public init?(_ text: String) {
        // `Int` would also read a sign.
        guard text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }) else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 4, parts[1].utf8.count == 2, parts[2].utf8.count == 2,
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2])
        else { return nil }
        let date = LocalDay(year: year, month: month, day: day)
        guard LocalDay(number: date.number) == date else { return nil }
        self = date
    }
}

extension LocalDay {
    /// Days since 1970-01-01 of the proleptic Gregorian calendar (Howard Hinnant's days_from_civil).
    public var number: Int {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date this many days after 1970-01-01.
    public init(number: Int) {
        let z = number + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        self.init(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// The date this many days later; earlier if negative.
    public func adding(days: Int) -> LocalDay { LocalDay(number: number + days) }
}
