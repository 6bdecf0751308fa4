import HealthModel
import Inspection
import JSON

/// The figures of many days as columns of numbers. Ten years of a person's data take up a few megabytes, and a chart of
/// any figure takes a single pass. Pure.
package struct FigureSeries: Sendable {
    /// Names of the columns, such as `sleep.asleepMinutes`.
    package let names: [String]
    private let paths: [[String]]
    /// The row that contains each day's numbers.
    private var rows: [Int: Int] = [:]
    /// For each row, the day as a number of days since 1970; nil if the row is free.
    private var days: [Int?] = []
    private var isFinal: [Bool] = []
    /// Indexed by column and row; NaN where there is no number. A column ends with its last number, because among a
    /// thousand people, most don't have most of the figures.
    private var columns: [[Double]]
    private var free: [Int] = []
    /// The days in order; rebuilt on the first request after a change.
    private var sorted: [Int]?

    /// - Parameter paths: the path to each figure in a summary.
    package init(_ paths: [[String]]) {
        self.paths = paths
        names = paths.map { $0.joined(separator: ".") }
        columns = Array(repeating: [], count: paths.count)
    }

    package var count: Int { rows.count }
    package var first: LocalDay? { rows.keys.min().map { LocalDay(number: $0) } }
    package var last: LocalDay? { rows.keys.max().map { LocalDay(number: $0) } }

    /// Takes a day's summary; nil if the day no longer has one.
    package mutating func take(_ day: LocalDay, _ summary: Value?) {
        guard let summary else {
            guard let row = rows.removeValue(forKey: day.number) else { return }
            days[row] = nil
            free.append(row)
            sorted = nil
            return
        }
        let row = rows[day.number] ?? add(day.number)
        isFinal[row] = summary["final"].bool == true
        for (column, path) in paths.enumerated() {
            set(column, row, to: path.reduce(summary) { $0[$1] }.double ?? .nan)
        }
    }

    private mutating func add(_ day: Int) -> Int {
        sorted = nil
        let row: Int
        if let known = free.popLast() {
            row = known
            days[row] = day
        } else {
            row = days.count
            days.append(day)
            isFinal.append(false)
        }
        rows[day] = row
        return row
    }

    private mutating func set(_ column: Int, _ row: Int, to number: Double) {
        let missing = row - columns[column].count
        if missing >= 0 {
            if number.isNaN { return }
            columns[column].append(contentsOf: repeatElement(.nan, count: missing + 1))
        }
        columns[column][row] = number
    }

    private func number(_ column: Int, _ row: Int) -> Double {
        row < columns[column].count ? columns[column][row] : .nan
    }

    /// Days of a range that have a summary, in order.
    private mutating func order(_ range: DateRange) -> ArraySlice<Int> {
        let all = sorted ?? rows.keys.sorted()
        sorted = all
        let first = range.from.map { from in all.firstIndex { $0 >= from.number } ?? all.endIndex } ?? all.startIndex
        let end = range.to.map { to in all.firstIndex { $0 > to.number } ?? all.endIndex } ?? all.endIndex
        return first < end ? all[first..<end] : []
    }

    /// The nearest days with data before and after a day.
    package mutating func neighbours(of day: LocalDay) -> (previous: LocalDay?, next: LocalDay?) {
        let all = order(DateRange())
        return (
            all.last { $0 < day.number }.map { LocalDay(number: $0) },
            all.first { $0 > day.number }.map { LocalDay(number: $0) }
        )
    }

    /// The last days that have data, at most the given number.
    package mutating func lastDays(_ count: Int) -> DateRange? {
        let last = order(DateRange()).suffix(count)
        guard let from = last.first, let to = last.last else { return nil }
        return DateRange(from: LocalDay(number: from), to: LocalDay(number: to))
    }

    /// As JSON: `dates`, `values` by figure, and `final`.
    /// - Parameter wanted: the columns, in the order to return them.
    package mutating func json(_ wanted: [Int], _ range: DateRange) -> [UInt8] {
        let days = order(range)
        let places = days.compactMap { rows[$0] }
        var text: [UInt8] = []
        text.reserveCapacity(days.count * (14 + 8 * wanted.count))
        func list(_ items: some Sequence<Int>, _ item: (Int, inout [UInt8]) -> Void) {
            text.append(UInt8(ascii: "["))
            for (index, element) in items.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                item(element, &text)
            }
            text.append(UInt8(ascii: "]"))
        }
        text.append(json: "{\"dates\":")
        list(days) { day, text in text.append(jsonString: LocalDay(number: day).description) }
        text.append(json: ",\"values\":{")
        for (index, column) in wanted.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text.append(jsonString: names[column])
            text.append(UInt8(ascii: ":"))
            list(places) { row, text in text.append(json: number(column, row)) }
        }
        text.append(json: "},\"final\":")
        list(places) { row, text in text.append(contentsOf: Array((isFinal[row] ? "true" : "false").utf8)) }
        text.append(UInt8(ascii: "}"))
        return text
    }
}
