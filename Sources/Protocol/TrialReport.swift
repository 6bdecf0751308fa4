/// What came of computing days beside the process that owns them: names and dates, never a health value.
package struct TrialReport: Codable, Sendable, Equatable {
    package struct Failed: Codable, Sendable, Equatable {
        package var date: String
        package var why: String

        package init(date: String, why: String) {
            self.date = date
            self.why = why
        }
    }

    /// Days that have figures, and were computed.
    package var computed = 0
    /// Days without any samples, that were computed too.
    package var empty = 0
    /// Of the days computed those whose figures wait to be computed anew: they are compared with nothing.
    package var waiting = 0
    package var failed: [Failed] = []
    /// Days of which something differs.
    package var differing = 0
    /// What differs in any of them, in order: names as in the daily summary; `hourly.<name>`, `events`.
    package var figures: [String] = []

    package init() {}
}
