import HealthModel

/// The time from which elements are delivered to a destination: `deliverSince` of its configuration.
package struct DeliverSince: Sendable, Equatable {
    /// Samples that ended before this time aren't delivered.
    package var moment: Instant
    /// Days before this one aren't delivered; it is the date as written in the configuration.
    package var day: LocalDay

    /// - Parameter day: the first day to deliver; nil for the moment's date in UTC.
    package init(_ moment: Instant, day: LocalDay? = nil) {
        self.moment = moment
        let length = 86_400 * Instant.microsecondsPerSecond
        let (days, rest) = moment.microseconds.quotientAndRemainder(dividingBy: length)
        self.day = day ?? LocalDay(number: Int(rest < 0 ? days - 1 : days))
    }

    /// Reads a date (in UTC) or a time with an offset; nil for anything else.
    package init?(_ text: String) {
        guard let moment = InstantText.parse(text) ?? InstantText.parse(text + "T00:00:00Z") else { return nil }
        self.init(moment, day: LocalDay(String(text.prefix(10))))
    }

    /// Whether a document of this day (since 1970) is too old to be delivered; the day is nil for a document that
    /// belongs to none.
    package func isAfter(day number: Int?) -> Bool { number.map { $0 < day.number } ?? false }

    /// Whether this moment was before `day` in every zone. Unlike the local date, that never changes.
    package func isAfter(everywhere moment: Instant) -> Bool {
        DeliverSince(moment + .seconds(14 * 3600)).day < day
    }
}
