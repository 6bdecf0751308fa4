import Foundation

extension InstantText {
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
