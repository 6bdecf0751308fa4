import Logging

/// The kind of word expected on a command line, judging by its name in the help, so that a shell can complete it.
package enum WordKind: Sendable, Hashable {
    case file, folder
    /// One of several fixed words, as in "on|off".
    case choice([String])
    /// Words that only the program knows, so the shell has to ask it for them.
    case known(Known)
    /// Several of them, separated by commas.
    case list(Known)
    /// Anything, so no completions can be offered.
    case free

    package enum Known: String, Sendable, CaseIterable {
        /// `entries` are the types of which a person can enter events, `own` the types that a person has made.
        case categories, columns, destinations, entries, figures, instances, metrics, own, places, plugins, tokens,
            topics, types, zones
    }

    /// - Parameter name: the name of an option's value or of a positional: "file", "off|on", "instance".
    package init(_ name: String) {
        switch name {
        case "file": self = .file
        case "folder": self = .folder
        case "category": self = .known(.categories)
        case "columns": self = .list(.columns)
        case "destination": self = .known(.destinations)
        case "figure": self = .known(.figures)
        case "instance": self = .known(.instances)
        case "metric": self = .known(.metrics)
        case "plugin": self = .known(.plugins)
        case "token": self = .known(.tokens)
        case "topic-prefix": self = .known(.topics)
        case "type": self = .known(.types)
        case "zone", "zone-or-moment": self = .known(.zones)
        case "level": self = .choice(Log.Level.allCases.map(\.rawValue))
        case "frequency": self = .choice(["immediate", "hourly", "daily", "weekly"])
        case "span":
            self = .choice(["7d", "30d", "1y", "week", "month", "year", "this-week", "this-month", "this-year"])
        case _ where name.contains("|"):
            let words = name.split(separator: "|").map(String.init).filter { !Self.placeholders.contains($0) }
            self = words.isEmpty ? .free : .choice(words)
        default: self = .free
        }
    }

    /// Words that stand for something else even beside fixed words, as in "days|all".
    private static let placeholders: Set = ["date", "days", "sequence"]
}
