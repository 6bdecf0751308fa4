import HealthModel
import Logging

/// A moment as a person writes it on a command line: how long ago, or a date and time.
package struct Since: Sendable, Equatable {
    package let instant: Instant

    /// - Parameters:
    ///   - text: "90s", "10m", "2h", "3d", "1w"; ISO 8601 with an offset; a date, or anything that `SpokenDates`
    ///     accepts (its first instant in UTC).
    ///   - option: the option's name, for the error.
    /// - Throws: `Failure` (usage) that says which forms are allowed.
    package init(_ text: String, option: String, now: Instant) throws(Failure) {
        if let last = text.last, let unit = Self.units[last], let count = Int64(text.dropLast()), count >= 0,
            count <= 1_000_000
        {
            instant = now - .seconds(count * unit)
        } else if let moment = InstantText.parse(text) ?? Self.day(text, now) {
            instant = moment
        } else {
            throw .usage(
                "\(option) can't be \"\(text)\"",
                hint: "give a duration (90s, 10m, 2h, 3d) or a moment (2025-03-30, 2025-03-30T14:00:00Z)")
        }
    }

    private static func day(_ text: String, _ now: Instant) -> Instant? {
        let today = LocalDay(number: Int((now.secondsSince1970 / 86_400).rounded(.down)))
        return SpokenDates(text, today: today).map { Instant(seconds: Int64($0.first.number) * 86_400) }
    }

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
}
