/// What a word of a command line means, judging by its name in the help, so that a shell can offer it.
package enum WordKind: Sendable, Hashable {
    case file, folder
    /// One of these, as in "on|off".
    case choice([String])
    /// Words that only the program knows: the shell asks it for them.
    case known(Known)
    /// Anything: nothing can be offered.
    case free

    package enum Known: String, Sendable, CaseIterable {
        case instances, plugins, tokens, types
    }

    /// - Parameter name: of an option's value or a positional: "file", "off|on", "instance".
    package init(_ name: String) {
        switch name {
        case "file": self = .file
        case "folder": self = .folder
        case "instance": self = .known(.instances)
        case "plugin": self = .known(.plugins)
        case "token": self = .known(.tokens)
        case "type": self = .known(.types)
        case "frequency": self = .choice(["immediate", "hourly", "daily", "weekly"])
        case _ where name.contains("|"): self = .choice(name.split(separator: "|").map(String.init))
        default: self = .free
        }
    }
}
