/// A kind of thing that processes say in their logs: declared once, with what it means and what its fields hold.
public struct LogEvent: Sendable, Equatable {
    public struct Field: Sendable, Equatable {
        public let name: String
        public let meaning: String
    }

    /// `noun.verb`, as in "observer.fired".
    public let name: String
    public let level: Log.Level
    /// The level when it tells of a failure; nil for what can't fail.
    public let failureLevel: Log.Level?
    /// In the order in which they are written; one may be left out.
    public let fields: [Field]
    /// One sentence.
    public let meaning: String

    package init(
        _ name: String, _ level: Log.Level, failing failureLevel: Log.Level? = nil, _ meaning: String,
        _ fields: KeyValuePairs<String, String> = [:]
    ) {
        self.name = name
        self.level = level
        self.failureLevel = failureLevel
        self.meaning = meaning
        self.fields = fields.map { Field(name: $0.key, meaning: $0.value) }
    }

    /// The part of the work that it is about, as HealthKit apps name their log categories: what stands before the dot.
    public var category: String { name.split(separator: ".").first.map(String.init) ?? name }

    public func level(failed: Bool) -> Log.Level { failed ? failureLevel ?? level : level }

    /// The first of these names that isn't a field of this event; nil when all are.
    public func undeclared(_ names: some Sequence<String>) -> String? {
        names.first { name in !fields.contains { $0.name == name } }
    }
}

/// From which level on a log writes: one for all, and others for single categories.
public struct LogLevels: Sendable, Equatable {
    public var usual: Log.Level
    public var byCategory: [String: Log.Level]

    public init(_ usual: Log.Level = .info, byCategory: [String: Log.Level] = [:]) {
        self.usual = usual
        self.byCategory = byCategory
    }

    /// "info", or "info,observer=debug,sync=debug".
    ///
    /// - Throws: `Failure` (usage) that lists the levels there are.
    public init(_ text: String, variable: String) throws(Failure) {
        self.init()
        func level(_ name: some StringProtocol) throws(Failure) -> Log.Level {
            if let level = Log.Level(rawValue: String(name)) { return level }
            let all = Log.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage(
                "\(variable) is \"\(text)\"",
                hint: "set it to one of \(all), and others for single categories: info,observer=debug")
        }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if sides.count == 2, !sides[0].isEmpty {
                byCategory[String(sides[0])] = try level(sides[1])
            } else {
                usual = try level(part)
            }
        }
    }

    public func wants(_ event: LogEvent, failed: Bool = false) -> Bool {
        event.level(failed: failed) >= byCategory[event.category] ?? usual
    }
}
