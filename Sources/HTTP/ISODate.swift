/// ISO 8601 dates, as JSON bodies carry them, from and to microseconds since 1970 (UTC), without Foundation.
public enum ISODate {
    /// Reads `2025-10-11T10:00:00Z`, with up to nine fraction digits (what is below a microsecond is cut off) and with an offset
    /// instead of Z; nil for anything else.
    public static func microseconds(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard text.count >= 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T") || text[10] == 0x20, text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"),
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            let hour = number(text, 11, 2), let minute = number(text, 14, 2), let second = number(text, 17, 2),
            (1...12).contains(month), day >= 1, day <= daysIn(month, year), hour < 24, minute < 60, second < 60
        else { return nil }
        var index = 19
        var fraction = 0
        if text[index] == UInt8(ascii: ".") {
            index += 1
            var place = 100_000
            let first = index
            while index < text.count, text[index] &- 0x30 < 10, index - first < 9 {
                fraction += Int(text[index] &- 0x30) * place
                place /= 10
                index += 1
            }
            if index == first { return nil }
        }
        guard let offset = offsetSeconds(text, index) else { return nil }
        let seconds = dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Int64(seconds) * 1_000_000 + Int64(fraction)
    }

    /// Appends `2025-10-11T10:00:00Z`, with three or six fraction digits where needed. Years 0 to 9999; others are null.
    /// - Parameter quoted: as a JSON string.
    public static func append(_ microseconds: Int64, quoted: Bool = false, to out: inout [UInt8]) {
        let secondsSince1970 = floorDivide(microseconds, 1_000_000)
        let fraction = Int(microseconds - secondsSince1970 * 1_000_000)
        let day = floorDivide(secondsSince1970, 86_400)
        guard (-719_528...2_932_896).contains(day) else { return out.append(json: "null") }
        let rest = Int(secondsSince1970 - day * 86_400)
        let (year, month, dayOfMonth) = civil(Int(day))
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { text in
            var count = 0
            func put(_ byte: UInt8) {
                text[count] = byte
                count += 1
            }
            func put2(_ number: Int) {
                put(UInt8(0x30 + number / 10))
                put(UInt8(0x30 + number % 10))
            }
            if quoted { put(UInt8(ascii: "\"")) }
            put2(year / 100)
            put2(year % 100)
            put(UInt8(ascii: "-"))
            put2(month)
            put(UInt8(ascii: "-"))
            put2(dayOfMonth)
            put(UInt8(ascii: "T"))
            put2(rest / 3600)
            put(UInt8(ascii: ":"))
            put2(rest / 60 % 60)
            put(UInt8(ascii: ":"))
            put2(rest % 60)
            if fraction > 0 {
                put(UInt8(ascii: "."))
                put2(fraction / 10_000)
                put(UInt8(0x30 + fraction / 1000 % 10))
                if fraction % 1000 > 0 {
                    put(UInt8(0x30 + fraction / 100 % 10))
                    put2(fraction % 100)
                }
            }
            put(UInt8(ascii: "Z"))
            if quoted { put(UInt8(ascii: "\"")) }
            out.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<count]))
        }
    }

    public static func text(_ microseconds: Int64) -> String {
        var out: [UInt8] = []
        append(microseconds, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private static func offsetSeconds(_ text: UnsafeRawBufferPointer, _ index: Int) -> Int? {
        guard index < text.count else { return nil }
        if text[index] == UInt8(ascii: "Z") { return index + 1 == text.count ? 0 : nil }
        let sign = text[index] == UInt8(ascii: "+") ? 1 : text[index] == UInt8(ascii: "-") ? -1 : 0
        guard sign != 0 else { return nil }
        let colon = text.count == index + 6 && text[index + 3] == UInt8(ascii: ":")
        guard colon || text.count == index + 5, let hours = number(text, index + 1, 2),
            let minutes = number(text, index + (colon ? 4 : 3), 2), hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    private static func number(_ text: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int? {
        var number = 0
        for index in start..<start + count {
            let digit = text[index] &- 0x30
            guard digit < 10 else { return nil }
            number = number * 10 + Int(digit)
        }
        return number
    }

    private static func daysIn(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 { a / b - (a % b < 0 ? 1 : 0) }

    /// Howard Hinnant's days_from_civil.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Howard Hinnant's civil_from_days.
    private static func civil(_ number: Int) -> (Int, Int, Int) {
        let z = number + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
