import HealthModel

/// A date as the app writes it, with the wall clock that it was read from.
///
/// The forms are `2024-02-06 14:30:00 -0800`; on phones with a 12-hour clock `2024-02-06 2:30:00 PM -0800` with AM or
/// PM before or after the time, in the phone's language and digits (`2024-02-06 下午2:30:00 +0800`); and ISO 8601. Any
/// kind of space counts as one (U+202F stands before PM since iOS 17). A date without an offset is refused, since it is
/// impossible to know which moment it means.
///
/// Years are Gregorian. Those of the Buddhist calendar are converted, since only the number of the year differs; those
/// of other calendars are refused (`PhoneCalendar`).
struct AutoExportDate: Equatable {
    let instant: Instant
    /// Seconds east of Greenwich, as printed.
    let offset: Int64

    /// Nil for text that isn't such a date.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        var scanner = DateScanner(text)
        guard let date = scanner.autoExportDate(isAfternoon: nil) ?? Self.localized(text) else { return nil }
        (instant, offset) = date
    }

    private static func localized(_ text: UnsafeBufferPointer<UInt8>) -> (instant: Instant, offset: Int64)? {
        let text = LocalizedDate(text)
        guard text.isLocalized, text.word.isEmpty || text.isAfternoon != nil else { return nil }
        return text.ascii.withUnsafeBufferPointer { bytes in
            var scanner = DateScanner(bytes)
            return scanner.autoExportDate(isAfternoon: text.isAfternoon)
        }
    }

    /// Why a text isn't such a date, with what to do about it.
    /// - Parameter name: the member's name.
    static func problem(_ text: UnsafeBufferPointer<UInt8>, _ name: String) -> String {
        let localized = LocalizedDate(text)
        if let calendar = PhoneCalendar(ofForeignYear: localized.year) {
            return "the \(name) is of the \(calendar.rawValue) calendar: set the phone's calendar to Gregorian "
                + "(Settings, General, Language & Region, Calendar), then send it again"
        }
        // ISO 8601 has a T before the time.
        if localized.year != nil, !["", "t"].contains(localized.word), localized.isAfternoon == nil {
            return "the \(name) doesn't say in a known way whether it is before or after noon: switch on the phone's "
                + "24-Hour Time (Settings, General, Date & Time), then send it again"
        }
        return "the \(name) isn't a date with an offset"
    }

    /// The wall clock's microseconds since 1970-01-01.
    private var wall: Int64 { instant.microseconds + offset * Instant.microsecondsPerSecond }

    /// The local date.
    var day: LocalDay { LocalDay(number: Int((wall - inDay) / Self.dayLength)) }

    /// Microseconds since local midnight.
    var inDay: Int64 {
        let rest = wall % Self.dayLength
        return rest < 0 ? rest + Self.dayLength : rest
    }

    /// The beginning of a local date, using the offset of this date.
    func midnight(of day: LocalDay) -> Instant {
        Instant(microseconds: Int64(day.number) * Self.dayLength - offset * Instant.microsecondsPerSecond)
    }

    static let dayLength = 86_400 * Instant.microsecondsPerSecond
}

extension DateScanner {
    /// Reads the whole text as one of the app's dates.
    /// - Parameter isAfternoon: which half of the day it means, if that isn't in the text.
    fileprivate mutating func autoExportDate(isAfternoon half: Bool?) -> (instant: Instant, offset: Int64)? {
        guard let printed = number(4), let year = PhoneCalendar.gregorian(printed), skip("-"),
            let month = number(1...2), (1...12).contains(month), skip("-"), let day = number(1...2)
        else { return nil }
        let date = LocalDay(year: year, month: month, day: day)
        guard LocalDay(number: date.number) == date else { return nil }
        guard skip("T") || skip("t") || skipSpaces() else { return nil }
        guard var hour = number(1...2), skip(":"), let minute = number(2), minute < 60 else { return nil }
        var second = 0
        var fraction: Int64 = 0
        if skip(":") {
            guard let seconds = number(2), seconds <= 60, let parts = self.fraction() else { return nil }
            second = seconds
            fraction = parts
        }
        _ = skipSpaces()
        if let isAfternoon = half ?? self.half() {
            // Some languages count the hours from 0 to 11.
            guard hour <= 12 else { return nil }
            hour = hour % 12 + (isAfternoon ? 12 : 0)
        } else if hour > 23 {
            return nil
        }
        _ = skipSpaces()
        guard let offset = offset(), isAtEnd else { return nil }
        let seconds = Int64(date.number) * 86_400 + Int64(hour * 3600 + minute * 60 + second) - offset
        return (Instant(microseconds: seconds * Instant.microsecondsPerSecond + fraction), offset)
    }

    /// Whether the time is after noon, if the date says so: `AM`, `pm`, `a. m.`
    private mutating func half() -> Bool? {
        guard let byte = peek() else { return nil }
        let letter = byte | 0x20
        guard letter == UInt8(ascii: "a") || letter == UInt8(ascii: "p") else { return nil }
        let begin = position
        position += 1
        _ = skip(".")
        _ = skipSpaces()
        guard skip("m") || skip("M") else {
            position = begin
            return nil
        }
        _ = skip(".")
        return letter == UInt8(ascii: "p")
    }

    /// Spaces, including non-breaking ones: U+00A0 and U+202F.
    private mutating func skipSpaces() -> Bool {
        let begin = position
        while let byte = peek() {
            if byte == 0x20 {
                position += 1
            } else if byte == 0xC2, starts(with: 0xC2, 0xA0) {
                position += 2
            } else if byte == 0xE2, starts(with: 0xE2, 0x80, 0xAF) {
                position += 3
            } else {
                break
            }
        }
        return position > begin
    }

    private func starts(with expected: UInt8...) -> Bool {
        bytes.count - position >= expected.count && bytes[position...].starts(with: expected)
    }
}
