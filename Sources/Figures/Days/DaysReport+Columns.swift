import Configuration
import Foundation
import HealthModel
import HealthViews
import Inspection
import Logging

extension DaysReport {
    /// One row per day, or per hour, with columns of the views `days` or `hours`.
    /// - Parameters:
    ///   - named: the wanted figures, by their names in the views or the summary; nil for all.
    ///   - onlyFilled: leaves out columns that nobody named, unless they are the date or the hour, or have a figure in
    ///     some row.
    /// - Throws: `Failure` (usage) with the nearest name.
    package func write(_ named: [String]?, _ format: RowOutput.Format, hourly: Bool, onlyFilled: Bool) throws {
        var columns = try columns(named, hourly: hourly)
        if onlyFilled {
            columns.removeAll { column in
                named?.contains(where: column.isCalled) != true && !isFilled(column, hourly: hourly)
            }
        }
        let isForEyes = if case .table = format { true } else { false }
        let output = RowOutput(columns.map(\.name), format)
        for (day, version) in zip(days, versions) {
            let starts = day["hours"]["start"].array ?? []
            for hour in hourly ? Array(starts.indices) : [0] {
                for column in columns {
                    let cell = Self.cell(column, day, version, hourly ? (hour, starts[hour].string ?? "") : nil)
                    output.value(isForEyes ? rounded(cell, column) : cell)
                }
                try output.endRow()
            }
        }
        try output.finish()
    }

    /// The names that `write` accepts for days, followed by those that only hours have.
    package static func columns(of stack: Stack) -> [String] {
        let views = HealthViews(figures: stack.configuration.figures)
        let days = views[.days]?.columns.map(\.name) ?? []
        return days + (views[.hours]?.columns.map(\.name) ?? []).filter { !days.contains($0) }
    }

    /// The named columns, after those that give the time; all columns if none are named.
    private func columns(_ named: [String]?, hourly: Bool) throws(Failure) -> [ViewColumn] {
        let all = HealthViews(figures: figures)[hourly ? .hours : .days]?.columns ?? []
        guard let named else { return all }
        var chosen = all.filter { (hourly ? ["date", "hour", "start_date"] : ["date"]).contains($0.name) }
        for name in named {
            guard let column = all.first(where: { $0.isCalled(name) }) else {
                throw .usage(
                    "there is no column \(name)", hint: Nearest.hint(for: name, among: all.map(\.name), quoted: false))
            }
            if !chosen.contains(column) { chosen.append(column) }
        }
        return chosen
    }

    /// Used in tables for people: whether the column is the date or the hour, or has a figure in some row; the view's
    /// other own columns (user, start, version) don't count.
    private func isFilled(_ column: ViewColumn, hourly: Bool) -> Bool {
        if ["date", "hour"].contains(column.name) { return true }
        return days.contains { day in
            guard hourly else { return !column.value(in: day).isNull }
            return (day["hours"]["start"].array ?? []).indices.contains { !column.value(in: day, hour: $0).isNull }
        }
    }

    private func rounded(_ cell: Value, _ column: ViewColumn) -> Value {
        guard case .number(let number) = cell else { return cell }
        let figure = figures.first {
            column.isCalled($0.path.joined(separator: ".")) || $0.hourly.map(column.isCalled) == true
        }
        return .number(Self.rounded(number, as: figure?.column))
    }

    /// A figure in its own unit, rounded as in its column for people; to two decimals if it has no column.
    package static func rounded(_ number: Double, as column: FigureDeclaration.Column?) -> Double {
        let digits = column.map { Double($0.digits) - log10($0.dividedBy) } ?? 2
        return number.rounded(decimals: max(0, Int(digits.rounded(.up))))
    }

    private static func cell(_ column: ViewColumn, _ day: Value, _ version: Int64, _ hour: (index: Int, start: String)?)
        -> Value
    {
        switch column.name {
        case "user_id": day["user"]
        case "date": day["date"]
        case "version": .integer(version)
        case "hour": Value(hour.flatMap { Int($0.start.dropFirst(11).prefix(2)) })
        case "start_date": Value(hour.flatMap { InstantText.parse($0.start) }.map { InstantText.iso8601($0) })
        default: column.value(in: day, hour: hour?.index)
        }
    }
}
