import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Protocol
import Terminal

/// `healthbus days`: the daily summaries, in full for programs and rounded for people.
package struct DaysReport {
    /// Members that every day has besides its figures; null if absent.
    private static let members = ["user", "date", "zone", "final", "missing", "revision"]

    let figures: [FigureDeclaration]
    /// By date.
    package let days: [Value]
    /// The sequence number of each day's latest change.
    let versions: [Int64]
    /// The total number of days, including those beyond `last`.
    package let total: Int

    /// - Parameters:
    ///   - last: only this many of the newest days that have data.
    package init(
        _ reader: StackReader, consolidator: StackConfiguration.Instance, user: String?, range: DateRange = DateRange(),
        last: Int? = nil
    ) throws {
        figures = reader.stack.figures
        var absent = Dictionary(uniqueKeysWithValues: Self.members.map { ($0, Value.null) })
        // A list is never null: a day without workouts has an empty one.
        for figure in figures { absent[figure.path[0]] = figure.path.count == 1 ? figure.absent : .null }
        var days: [String: (day: Value, version: Int64)] = [:]
        try reader.forEachRow(consolidator, topic: "daily.summary", days: range.numbers) { row in
            guard let number = row.day, user == nil || row.user == user else { return }
            let key = "\(LocalDay(number: number)) \(row.user)"
            guard var members = row.body?.object else {
                days[key] = nil
                return
            }
            for (name, value) in absent where members[name]?.isNull ?? true { members[name] = value }
            days[key] = (.object(members), row.sequence.value)
        }
        let sorted = days.sorted { $0.key < $1.key }.map(\.value)
        let shown = last.map { Array(sorted.filter { Self.hasData($0.day) }.suffix($0)) } ?? sorted
        self.days = shown.map(\.day)
        versions = shown.map(\.version)
        total = sorted.count
    }

    /// Whether it contains anything besides its date and times.
    package static func hasData(_ day: Value) -> Bool {
        (day.object ?? [:]).contains { name, value in
            !(members + ["hours"]).contains(name) && !value.isNull && value != [] && value != [:]
        }
    }

    /// The days in full, except for the hours.
    package var json: String { value.json(pretty: true) }

    package var value: Value {
        .array(
            days.map { day in
                var members = day.object ?? [:]
                members["hours"] = nil
                return .object(members)
            })
    }

    /// A table for people; an empty cell means no data. A figure missing from every day gets no column, and a narrow
    /// screen shows fewer columns.
    package func table(for terminal: Terminal) -> String {
        let users = Set(days.compactMap { $0.read(SummaryState.self)?.user })
        let shown = figures.compactMap { figure in figure.column.map { (path: figure.path, column: $0) } }
            .filter { figure in days.contains { !Self.value(figure.path, of: $0).isNull } }
        let hasOwn = days.contains { !Self.own($0).isEmpty }
        let last: [Table.Column] = hasOwn ? [.init("Own", givesWay: 1), .init("State")] : [.init("State")]
        var table = Table(
            (users.count > 1 ? [.init("User")] : []) + [.init("Date")]
                + shown.map {
                    Table.Column(
                        $0.column.title, [.activities, .places].contains($0.column.form) ? .left : .right,
                        givesWay: $0.column.givesWay)
                } + last)
        for day in days {
            let end = hasOwn ? [Self.own(day), Self.state(day)] : [Self.state(day)]
            table.add(
                (users.count > 1 ? [day["user"].string ?? ""] : []) + [day["date"].string ?? ""]
                    + shown.map { Self.cell(Self.value($0.path, of: day), $0.column, isGrouped: terminal.isTerminal) }
                    + end)
        }
        return table.render(for: terminal)
    }

    /// A person's own types, which have no HealthKit name: "coffee 3 cups, cold-shower 1".
    private static func own(_ day: Value) -> String {
        let own = (day["other"].object ?? [:]).filter { !$0.key.hasPrefix("HK") }
        return Value.inOrder(own).map { name, figure in
            let number = ["sum", "average", "mostRecent", "count"].lazy.compactMap { figure[$0].double }.first
            let text = number.map { Value.number($0.rounded(decimals: 2)).json() }
            return [name, text, figure["unit"].string].compactMap { $0 }.joined(separator: " ")
        }.joined(separator: ", ")
    }

    private static func value(_ path: [String], of day: Value) -> Value { path.reduce(day) { $0[$1] } }

    /// - Parameter isGrouped: whether to use digit separators, which only people want.
    private static func cell(_ value: Value, _ column: FigureDeclaration.Column, isGrouped: Bool) -> String {
        switch column.form {
        case .number:
            value.double.map {
                text($0 / column.dividedBy, column.digits, isGrouped)
                    + (column.suffix.isEmpty ? "" : " " + column.suffix)
            } ?? ""
        case .clock: value.double.map { HumanFormat.hours(minutes: $0) } ?? ""
        case .activities:
            (value.array ?? []).map { activity in
                let minutes = activity["durationSeconds"].double.map { " \(text($0 / 60, 0, isGrouped)) min" } ?? ""
                return (activity["activity"].string ?? "other") + minutes
            }.joined(separator: ", ")
        case .places:
            (value.array ?? []).map { place in
                (place["place"].string ?? "")
                    + (place["minutes"].double.map { " " + HumanFormat.hours(minutes: $0) } ?? "")
            }.joined(separator: ", ")
        }
    }

    private static func state(_ day: Value) -> String {
        let state = day.read(SummaryState.self)
        if let missing = state?.missing, !missing.isEmpty { return "waits for \(missing.joined(separator: ", "))" }
        guard state?.final == true else { return "so far" }
        let revision = state?.revision ?? 0
        return revision > 1 ? "final, revision \(revision)" : "final"
    }

    private static func text(_ number: Double, _ digits: Int, _ isGrouped: Bool) -> String {
        guard digits > 0 else {
            return isGrouped ? HumanFormat.count(Int(number.rounded())) : String(Int(number.rounded()))
        }
        return String(format: "%.\(digits)f", number)
    }
}
