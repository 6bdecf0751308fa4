/// Dates as exports and pushes write them, read by bytes: Foundation's parsers cost a thousand times more.
public enum InstantText {
    /// Reads `2025-03-30 08:15:00 +0200` (exports), `20150718161649+0200` (exports of iOS 8 and 9) and ISO 8601 with an offset or
    /// `Z` and any fraction (`2025-03-30T06:15:00.25Z`); nil for anything else, a date without an offset included.
    ///
    /// Fractions finer than a microsecond are cut off. A leap second is the first second of the next minute.
    package static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Instant? {
        var reader = DateReader(text)
        return reader.instant()
    }

    /// As exports and ISO 8601 write times; nil for anything else.
    public static func parse(_ text: some StringProtocol) -> Instant? {
        var copy = String(text)
        return copy.withUTF8 { parse($0) }
    }
}

/// Reads digits and separators from the front; every step fails on the first byte that doesn't fit, so no byte beyond is looked at.
private struct DateReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func instant() -> Instant? {
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
        guard let fraction = fraction(), let offset = offset(), position == bytes.count else { return nil }
        let days = Int64(LocalDay(year: year, month: month, day: day).number)
        let seconds = days * 86_400 + Int64(hour * 3600 + minute * 60 + second) - offset
        return Instant(microseconds: seconds * Instant.microsecondsPerSecond + fraction)
    }

    /// Microseconds; 0 when there is no fraction, nil when a point has no digit behind it.
    private mutating func fraction() -> Int64? {
        guard skip(".") || skip(",") else { return 0 }
        var micros: Int64 = 0
        var digits = 0
        while position < bytes.count, let digit = Self.digit(bytes[position]) {
            if digits < 6 { micros = micros * 10 + Int64(digit) }
            digits += 1
            position += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(digits, 6)..<6 { micros *= 10 }
        return micros
    }

    /// Seconds east of Greenwich.
    private mutating func offset() -> Int64? {
        _ = skip(" ")
        if skip("Z") || skip("z") { return 0 }
        let west = skip("-")
        guard west || skip("+"), let hours = number(2), hours <= 18 else { return nil }
        var minutes = 0
        if position < bytes.count {
            _ = skip(":")
            guard let number = number(2), number < 60 else { return nil }
            minutes = number
        }
        let seconds = Int64(hours * 3600 + minutes * 60)
        return west ? -seconds : seconds
    }

    private mutating func number(_ width: Int) -> Int? {
        guard bytes.count - position >= width else { return nil }
        var result = 0
        for index in position..<position + width {
            guard let digit = Self.digit(bytes[index]) else { return nil }
            result = result * 10 + digit
        }
        position += width
        return result
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private static func digit(_ byte: UInt8) -> Int? {
        let digit = byte &- UInt8(ascii: "0")
        return digit < 10 ? Int(digit) : nil
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
