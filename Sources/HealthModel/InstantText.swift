/// Dates as exports and pushes write them. They are read byte by byte, because Foundation's parsers take a thousand
/// times as long.
public enum InstantText {
    /// Reads `2025-03-30 08:15:00 +0200` (exports), `20150718161649+0200` (exports of iOS 8 and 9) and ISO 8601 with an
    /// offset or `Z` and any fraction (`2025-03-30T06:15:00.25Z`); nil for anything else, including a date without an
    /// offset.
    ///
    /// Fractions finer than a microsecond are cut off. A leap second is read as the first second of the next minute.
    package static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Instant? {
        var reader = DateScanner(text)
        return reader.instant()
    }

    /// Reads times in the forms that exports and ISO 8601 use; nil for anything else.
    public static func parse(_ text: some StringProtocol) -> Instant? {
        var copy = String(text)
        return copy.withUTF8 { parse($0) }
    }
}

extension DateScanner {
    fileprivate mutating func instant() -> Instant? {
        guard let year = number(4) else { return nil }
        let separated = skip("-")
        guard let month = number(2), (1...12).contains(month), !separated || skip("-"),
            let day = number(2), day >= 1, day <= Self.days(in: month, of: year)
        else { return nil }
        if separated { guard skip(" ") || skip("T") || skip("t") else { return nil } } else { _ = skip("T") }
        let colons = separated
        guard let hour = number(2), hour < 24, !colons || skip(":"), let minute = number(2), minute < 60,
            !colons || skip(":"), let second = number(2), second <= 60
        else { return nil }
        guard let fraction = fraction() else { return nil }
        _ = skip(" ")
        guard let offset = offset(), isAtEnd else { return nil }
        let days = Int64(LocalDay(year: year, month: month, day: day).number)
        let seconds = days * 86_400 + Int64(hour * 3600 + minute * 60 + second) - offset
        return Instant(microseconds: seconds * Instant.microsecondsPerSecond + fraction)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
