/// A kind of event in the logs of processes: declared once, with its meaning and the meaning of its fields.
package struct LogEvent: Sendable, Equatable {
    package struct Field: Sendable, Equatable {
        package let name: String
        package let meaning: String
    }

    /// `noun.verb`, as in "observer.fired".
    package let name: String
    package let level: Log.Level
    /// The level when it reports a failure; nil for events that can't report one.
    package let failureLevel: Log.Level?
    /// In the order in which they are written; each may be left out.
    package let fields: [Field]
    /// One sentence.
    package let meaning: String

    package init(
        _ name: String, _ level: Log.Level, failing failureLevel: Log.Level? = nil, _ meaning: String,
        _ fields: KeyValuePairs<String, String> = [:]
    ) {
        (self.name, self.level, self.failureLevel, self.meaning) = (name, level, failureLevel, meaning)
        self.fields = fields.map { Field(name: $0.key, meaning: $0.value) }
    }

    /// The part of the work that the event concerns, like the log categories of HealthKit apps: the text before the
    /// dot.
    package var category: String { name.split(separator: ".").first.map(String.init) ?? name }

    package func level(failed: Bool) -> Log.Level { failed ? failureLevel ?? level : level }

    /// The first of these names that isn't a field of this event; nil when all are.
    package func undeclared(_ names: some Sequence<String>) -> String? {
        names.first { name in !fields.contains { $0.name == name } }
    }
}

/// The lowest level that a log writes: one for everything, and others for individual categories.
package struct LogLevels: Sendable, Equatable {
    package var usual: Log.Level
    package var byCategory: [String: Log.Level]

    package init(_ usual: Log.Level = .info, byCategory: [String: Log.Level] = [:]) {
        (self.usual, self.byCategory) = (usual, byCategory)
    }

    /// "info", or "info,observer=debug,sync=debug".
    ///
    /// - Throws: `Failure` (usage) that lists the allowed levels.
    package init(_ text: String, variable: String) throws(Failure) {
        self.init()
        func level(_ name: some StringProtocol) throws(Failure) -> Log.Level {
            if let level = Log.Level(rawValue: String(name)) { return level }
            let all = Log.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage(
                "\(variable) can't be \"\(text)\"",
                hint: "choose from \(all); add others for single categories: info,observer=debug")
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

    package func wants(_ event: LogEvent, failed: Bool = false) -> Bool {
        event.level(failed: failed) >= byCategory[event.category] ?? usual
    }
}
