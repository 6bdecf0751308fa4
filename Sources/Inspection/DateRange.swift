import Client
import Foundation
import HealthModel
import Logging

/// The range of days that a command covers, from `--from`, `--to` and `--last`.
package struct DateRange: Sendable, Equatable {
    /// nil to begin with the first day.
    package var from: LocalDay?
    /// nil to end with the last day.
    package var to: LocalDay?

    package init(from: LocalDay? = nil, to: LocalDay? = nil) { (self.from, self.to) = (from, to) }

    /// - Parameter today: evaluated only if one of the strings depends on it.
    /// - Throws: `Failure` (usage), and what `today` throws.
    package init(from: String?, to: String?, last: String? = nil, today: () throws -> LocalDay) throws {
        if let last {
            guard from == nil, to == nil else {
                throw Failure.usage("--last sets both ends", hint: "leave out --from and --to")
            }
            let days = try Self.days(last, "--last", today)
            self.init(from: days.first, to: days.last)
        } else {
            self.init(
                from: try from.map { try Self.days($0, "--from", today).first },
                to: try to.map { try Self.days($0, "--to", today).last })
        }
        if let from = self.from, let to = self.to, from > to {
            throw Failure.usage("--from \(from) is after --to \(to)", hint: "swap them")
        }
    }

    /// - Parameter what: the name of the option or argument, for the error.
    package static func days(_ text: String, _ what: String, _ today: () throws -> LocalDay) throws -> SpokenDates {
        let relative = SpokenDates.isRelative(text)
        guard let days = SpokenDates(text, today: relative ? try today() : LocalDay(number: 0)) else {
            // A bare number probably means days.
            let isNumber = what == "--last" && SpokenDates(text + "d", today: LocalDay(number: 0)) != nil
            throw Failure.usage(
                "\(what) \(text) isn't a date",
                hint: isNumber ? "did you mean --last \(text)d?" : "give one as \(SpokenDates.forms)")
        }
        return days
    }

    /// "from 2025-03-24 to 2025-03-30 ", with a space at the end; empty for everything.
    package var words: String {
        if let from, from == to { return "on \(from) " }
        return (from.map { "from \($0) " } ?? "") + (to.map { "to \($0) " } ?? "")
    }

    package var isEverything: Bool { from == nil && to == nil }

    /// The range as days since 1970; nil means all days.
    package var numbers: ClosedRange<Int>? {
        isEverything ? nil : (from?.number ?? -800_000)...(to?.number ?? 3_000_000)
    }

    package func contains(_ day: LocalDay) -> Bool {
        (from.map { day >= $0 } ?? true) && (to.map { day <= $0 } ?? true)
    }
}

extension Stack {
    /// A person's clock: their zones, or this machine's if none are stored for them yet.
    package func zones(of user: String, _ reader: StackReader) throws -> ZoneTimeline {
        let queries = try ObserverQueries(self, reader)
        if let zones = try queries.timelines()[user] { return zones }
        return try ZoneTimeline(zone: TimeZone.current.identifier)
    }
}
