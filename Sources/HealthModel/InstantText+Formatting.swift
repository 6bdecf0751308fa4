import Foundation

extension InstantText {
    /// ISO 8601 in UTC with only as many digits of the fraction as needed: `2025-03-30T06:15:00Z`, `…00.25Z`.
    public static func iso8601(_ instant: Instant) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(27)
        append(iso8601: instant, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// As above, appended as UTF-8.
    package static func append(iso8601 instant: Instant, to out: inout [UInt8]) {
        let second = instant.flooredSecond
        let day = second.flooredQuotient(86_400)
        let date = LocalDay(number: Int(day))
        let inDay = Int(second - day * 86_400)
        if date.year < 0 { out.append(UInt8(ascii: "-")) }
        append(abs(date.year), digits: 4, to: &out)
        out.append(UInt8(ascii: "-"))
        append(date.month, digits: 2, to: &out)
        out.append(UInt8(ascii: "-"))
        append(date.day, digits: 2, to: &out)
        out.append(UInt8(ascii: "T"))
        append(inDay / 3600, digits: 2, to: &out)
        out.append(UInt8(ascii: ":"))
        append(inDay / 60 % 60, digits: 2, to: &out)
        out.append(UInt8(ascii: ":"))
        append(inDay % 60, digits: 2, to: &out)
        appendFraction(Int(instant.microseconds &- second &* Instant.microsecondsPerSecond), to: &out)
        out.append(UInt8(ascii: "Z"))
    }

    private static func appendFraction(_ micros: Int, to out: inout [UInt8]) {
        guard micros > 0 else { return }
        var rest = micros
        var digits = 6
        while rest % 10 == 0 {
            rest /= 10
            digits -= 1
        }
        out.append(UInt8(ascii: "."))
        append(rest, digits: digits, to: &out)
    }

    /// Appends a number with at least that many digits, padded with zeros.
    private static func append(_ number: Int, digits: Int, to out: inout [UInt8]) {
        var divisor = 1
        var width = 1
        while width < digits || number / divisor >= 10 {
            divisor *= 10
            width += 1
        }
        while divisor > 0 {
            out.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    /// The time by this machine's clock, to the second, for people to read: `14:05:10`, preceded by the date if it
    /// isn't today: `2025-03-30 14:05:10`.
    package static func local(_ instant: Instant, now: Instant, zone: TimeZone = .current) -> String {
        let (date, time) = parts(instant, zone)
        return date == parts(now, zone).date ? time : "\(date) \(time)"
    }

    private static func parts(_ instant: Instant, _ zone: TimeZone) -> (date: Substring, time: String) {
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: instant.secondsSince1970))
        let text = iso8601(Instant(seconds: instant.flooredSecond + Int64(offset)))
        let parts = text.split(separator: "T")
        return (parts.first ?? "", String((parts.last ?? "").prefix(8)))
    }
}

extension Int64 {
    /// The quotient rounded down, even when it is negative.
    func flooredQuotient(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
