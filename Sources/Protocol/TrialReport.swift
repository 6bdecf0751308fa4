import HealthModel

/// A figure whose value would differ on a day.
package struct TrialChange: Codable, Sendable, Equatable {
    package var user: String
    package var date: String
    /// As in `TrialReport.figures`.
    package var figure: String
    /// null if the day has no such figure.
    package var before: Value
    package var after: Value

    package init(user: String, date: String, figure: String, before: Value, after: Value) {
        (self.user, self.date, self.figure, self.before, self.after) = (user, date, figure, before, after)
    }
}

/// The result of computing days alongside the process that owns them: names and dates, never a health value.
package struct TrialReport: Codable, Sendable, Equatable {
    package struct Failed: Codable, Sendable, Equatable {
        package var date: String
        package var why: String

        package init(date: String, why: String) { (self.date, self.why) = (date, why) }
    }

    /// What becomes of a kind of events on the days whose events were compared.
    package struct Events: Codable, Sendable, Equatable {
        /// As in `EventBody`.
        package var kind: String
        /// How many there are.
        package var count = 0
        /// How many of them the new process doesn't have: under the same id and kind, at a time that overlaps.
        package var gone = 0
        /// On how many days.
        package var days = 0
        /// The newest few of these days.
        package var dates: [String] = []

        package init(kind: String) { self.kind = kind }

        /// How many days are named.
        private static let named = 3

        /// Adds a day that loses some.
        package mutating func lose(_ lost: Int, on date: String) {
            gone += lost
            days += 1
            dates = Array((dates + [date]).sorted(by: >).prefix(Self.named))
        }
    }

    /// How many days with figures were computed.
    package var computed = 0
    /// How many days without any samples were computed too.
    package var empty = 0
    /// How many of the computed days had failed before, or are still waiting to be computed again, so that there is
    /// nothing to compare with.
    package var waiting = 0
    package var failed: [Failed] = []
    /// How many days differ in any way.
    package var differing = 0
    /// What differs on any of those days, in order: names as in the daily summary; `hourly.<name>`, `events`.
    package var figures: [String] = []
    /// The differences themselves, except in hours and events. They are health values: no message carries them.
    package var changes: [TrialChange] = []
    /// On how many days, besides those above, only the events were compared; nil without any.
    package var eventDays: Int?
    /// By kind, in order; nil without events.
    package var events: [Events]?

    private enum CodingKeys: CodingKey { case computed, empty, waiting, failed, differing, figures, eventDays, events }

    package init() {}
}
