import Client
import Configuration
import Figures
import HealthModel
import Inspection
import Logging
import ModelContext
import Protocol
import Terminal

/// What one call of a tool reads from: the stack as it is now, and one person's clock.
final class ToolContext {
    let stack: Stack
    let reader: StackReader
    let queries: ObserverQueries
    let user: String
    let zones: ZoneTimeline
    let now: Instant
    /// Whether the stack's observer is running; otherwise everything is read from files.
    let isRunning: Bool
    /// False once nobody is waiting for the answer any more.
    let isWanted: () -> Bool
    private let silences: Silences

    private final class Silences { var texts: [String] = [] }

    /// - Throws: `Failure` if there is no stack, or nothing is stored about this person. The error doesn't name any
    ///   other person.
    init(_ stack: Stack, user: String, now: Instant, isWanted: @escaping () -> Bool) throws {
        let silences = Silences()
        self.stack = stack
        guard stack.exists else {
            throw Failure(
                "there is no stack in the folder that 'healthbus mcp' was started with",
                hint: "check --state in the host's configuration; 'healthbus up --import FILE' makes a stack there")
        }
        reader = stack.reader { silence in
            let age = HumanFormat.duration(.seconds(silence.age))
            silences.texts.append(
                "'\(silence.instance)' of the stack is running but not responding: this shows its data as of \(age) ago."
            )
        }
        queries = try ObserverQueries(stack, reader)
        guard let zones = try queries.timelines()[user] else {
            throw Failure(
                "nothing is stored about '\(user)'",
                hint: "'healthbus import FILE' brings some; --user of 'healthbus mcp' says whose data this is about")
        }
        (self.zones, self.user, self.now, self.isWanted, self.silences) = (zones, user, now, isWanted, silences)
        isRunning = try reader.isRunning(stack.observer)
    }

    /// Today's date where the person is.
    var today: LocalDay { zones.day(of: now) }

    var consolidator: StackConfiguration.Instance { get throws { try stack.instance(.consolidator) } }

    /// The notes that every answer must contain, whatever it is about.
    var notes: [String] {
        (isRunning ? [] : ["The stack is stopped\(newestStored): whatever happened since then is missing here."])
            + silences.texts
    }

    /// ", and its newest sample ends at 2025-03-30T08:15:00+02:00"; empty if there is none.
    private var newestStored: String {
        // If the store can't be read, the answer itself says so.
        guard let newest = (try? dataEnd)?.newest else { return "" }
        return ", and its newest sample ends at \(zones.localText(of: newest))"
    }

    /// Where the data ends; nil if there is none.
    var dataEnd: DataEnd? {
        get throws { try types().compactMap { $0.lastEnd ?? $0.lastStart }.max().map { DataEnd($0, zones) } }
    }

    // MARK: Days

    /// The days named by the arguments `dates`, or `from` and `to`.
    func range(_ arguments: ToolArguments) throws -> DateRange {
        let (from, to) = (arguments.text("from"), arguments.text("to"))
        if let dates = arguments.text("dates") {
            guard from == nil, to == nil else {
                throw Failure.usage("dates sets both ends", hint: "leave out from and to")
            }
            return try span(dates, "dates")
        }
        let range = DateRange(
            from: try from.flatMap { try span($0, "from").from }, to: try to.flatMap { try span($0, "to").to })
        if let first = range.from, let last = range.to, first > last {
            throw Failure.usage("from \(first) is after to \(last)", hint: "swap them")
        }
        return range
    }

    /// - Parameter name: the name of the argument, for the error.
    func span(_ text: String, _ name: String) throws -> DateRange {
        // "2025-03-01..2025-03-25", each end in any form that a span has.
        if let dots = text.firstRange(of: "..") {
            let first = try DateRange.days(String(text[..<dots.lowerBound]), name) { today }.first
            let last = try DateRange.days(String(text[dots.upperBound...]), name) { today }.last
            guard first <= last else {
                throw Failure.usage("\(name) begins with \(first), which is after \(last)", hint: "swap them")
            }
            return DateRange(from: first, to: last)
        }
        let days = try DateRange.days(text, name) { today }
        return DateRange(from: days.first, to: days.last)
    }

    func days(_ range: DateRange, last: Int? = nil) throws -> DaysReport {
        try DaysReport(reader, consolidator: consolidator, user: user, range: range, last: last)
    }

    /// The newest days that have data. The last few weeks usually contain enough of them; all years are read only if
    /// the last year doesn't.
    func newestDays(_ count: Int) throws -> DaysReport {
        for back in [45, 400] {
            let report = try days(DateRange(from: today.adding(days: -back)), last: count)
            if report.days.count >= count { return report }
        }
        return try days(DateRange(), last: count)
    }

    func state(_ summary: Value) -> DayState? { DayState(summary, zones: zones, now: now) }

    /// The time on the person's clock at the given instant, with its offset.
    func local(_ instant: Instant?) -> Value { Value(instant.map { zones.localText(of: $0) }) }

    /// The figures of the stack's days or hours.
    func figures(hourly: Bool = false) -> FigureChoice { FigureChoice(stack.configuration.figures, hourly: hourly) }

    /// - Throws: `Failure` (usage) that suggests the nearest name or, for a type without a figure of its own, says
    ///   where to find its data.
    func figures(named names: [String], of choice: FigureChoice) throws -> [FigureChoice.Figure] {
        do throws(Failure) { return try choice.named(names) } catch {
            let types = try types().map(\.type)
            let other = names.first { name in
                !choice.isKnown(name)
                    && types.contains { [$0, TypeName.short($0)].contains { $0.lowercased() == name.lowercased() } }
            }
            guard let other else { throw error }
            throw Failure.usage(
                "\(other.prefix(100)) has no figure of its own",
                hint: "get_days has it under \"other\", if figures names \"other\"; search_samples has its samples")
        }
    }

    /// What the store holds for this person, by type.
    func types() throws -> [TypeRow] {
        let pages = try reader.pages(queries.observer, .types)
        return pages.flatMap(\.types).filter { $0.user == user && $0.alive > 0 }.sorted { $0.type < $1.type }
    }
}
