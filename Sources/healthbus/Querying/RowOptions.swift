import Clocks
import HealthModel
import Inspection
import Logging
import Terminal

// Options shared by the commands that print rows, so that they look alike.
extension CommandHelp.Option {
    static let csv = Self("--csv", help: "CSV with a header (RFC 4180), plain digits")
    static let ndjson = Self("--ndjson", help: "one JSON object per line")
    static let last = Self(
        "--last", value: "span",
        help: "instead of --from and --to: 7d, 2025-03, …; week and month are the previous calendar week and month")

    static func from(_ help: String? = nil) -> Self {
        .init("--from", value: "date", help: help ?? "first day: \(SpokenDates.forms)")
    }
    static func to(_ help: String? = nil) -> Self { .init("--to", value: "date", help: help ?? "last day") }
}

extension Arguments {
    /// The format chosen by `--csv`, `--json` or `--ndjson`; human-readable otherwise.
    /// - Parameter screen: where people read them.
    func rowFormat(on screen: StandardStream = .output) throws -> RowOutput.Format {
        let given = ["--csv", "--json", "--ndjson"].filter { declares($0) && flag($0) }
        guard given.count < 2 else {
            throw Failure.usage("\(given.joined(separator: " and ")) can't be combined", hint: "give only one")
        }
        return switch given.first {
        case "--csv": .csv
        case "--json": .json
        case "--ndjson": .lines
        default: .table(Terminal(screen))
        }
    }

    /// The days selected by `--from`, `--to` and `--last`.
    /// - Parameter user: the person whose clock determines "today".
    func dateRange(_ stack: Stack, user: String) throws -> DateRange {
        try DateRange(from: given("--from"), to: given("--to"), last: given("--last")) {
            try stack.today(of: user)
        }
    }
}

extension Stack {
    /// Today's date where the person currently is.
    func today(of user: String) throws -> LocalDay { try zones(of: user, reader()).day(of: WallClock.now) }
}
