/// What came of computing days beside the process that owns them: names and dates, never a health value.
public struct TrialReport: Codable, Sendable, Equatable {
    public struct Failed: Codable, Sendable, Equatable {
        public var date: String
        public var why: String

        public init(date: String, why: String) {
            self.date = date
            self.why = why
        }
    }

    /// Days that have figures, and were computed.
    public var computed = 0
    /// Days without any samples, that were computed too.
    public var empty = 0
    /// Of the days computed those whose figures wait to be computed anew: they are compared with nothing.
    public var waiting = 0
    public var failed: [Failed] = []
    /// Days of which something differs.
    public var differing = 0
    /// What differs in any of them, in order: names as in the daily summary; `hourly.<name>`, `events`.
    public var figures: [String] = []

    public init() {}
}
