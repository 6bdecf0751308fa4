import HealthModel

/// The Retry-After header (RFC 9110, 10.2.3): seconds, or an HTTP date.
package enum RetryAfter {
    /// Reads the header; nil when it has neither form.
    package static func wait(_ text: String) -> AskedWait? {
        if !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }) {
            // A number too large for an integer means a very long time.
            return .seconds(Int(text).map { Double($0) } ?? .infinity)
        }
        return instant(httpDate: text).map { .until($0) }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers may send.
    static func instant(httpDate text: String) -> Instant? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let day = Int(parts[1]), let year = Int(parts[3]),
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2],
            (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second),
            (1...31).contains(day), (1970...9999).contains(year)
        else { return nil }
        let number = LocalDay(year: year, month: month + 1, day: day).number
        return Instant(seconds: Int64(number * 86_400 + hour * 3600 + minute * 60 + second))
    }
}
