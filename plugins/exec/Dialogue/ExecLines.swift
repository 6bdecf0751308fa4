import Configuration
import HealthModel
import JSON
import Protocol
import StageKit

/// What the host writes to a program that computes days: lines of JSON.
///
/// Samples are sent in columns: a program in an interpreted language reads one list per column, at the speed of its
/// JSON library, instead of one object per sample; `zip` turns them into rows. Repeated strings are listed once per
/// line and referred to by index.
package enum ExecLines {
    /// Versions of these lines, not of the bus protocol.
    package static let versions = 1...1
    static let rowsPerLine = 2048

    package static func hello(
        plugin: String, instance: String, types: [String], configuration: Value,
        versions: ClosedRange<Int> = versions
    ) -> [UInt8] {
        line([
            "hello": [
                "protocol": [
                    "min": .integer(Int64(versions.lowerBound)), "max": .integer(Int64(versions.upperBound)),
                ],
                "plugin": .string(plugin), "instance": .string(instance),
                "types": .array(types.map { .string($0) }), "configuration": configuration,
            ]
        ])
    }

    static func day(_ input: DayInput) -> [UInt8] {
        func ranges(_ list: [Range<Instant>]) -> Value {
            .array(list.map { [.integer($0.lowerBound.microseconds), .integer($0.upperBound.microseconds)] })
        }
        return line([
            "day": [
                "user": .string(input.user), "date": .string(input.day.description), "window": ranges(input.window),
                "hours": ranges(input.zones.hours(of: input.day)), "zones": input.zones.wireValue,
                "configuration": input.configuration, "characteristics": input.characteristics,
            ]
        ])
    }

    static func compute(_ day: LocalDay) -> [UInt8] { line(["compute": .string(day.description)]) }

    private static func line(_ value: Value) -> [UInt8] { Array(value.json().utf8) + [UInt8(ascii: "\n")] }

    /// One line with these rows.
    static func samples(_ page: SamplePage, rows: Range<Int>, ids: Bool) -> [UInt8] {
        var out = ColumnText()
        let types = Table(page.type, rows)
        let origins = Table(page.origin, rows)
        out.bytes.reserveCapacity(rows.count * 64 + 1024)
        out.text("{\"samples\":{\"types\":")
        out.list(types.used) { out, index in out.quoted(page.types[Int(index)].utf8) }
        out.text(",\"sources\":")
        out.list(origins.used) { out, index in out.source(page.origins[Int(index)]) }
        out.column("type", rows) { out, row in out.number(types.place(of: page.type[row])) }
        out.column("source", rows) { out, row in out.number(origins.place(of: page.origin[row])) }
        out.column("start", rows) { out, row in out.number(page.start[row]) }
        out.column("end", rows) { out, row in out.number(page.end[row]) }
        out.column("value", rows) { out, row in out.text(JSONNumber.text(page.value[row])) }
        out.column("userEntered", rows) { out, row in out.text(page.flags[row].contains(.userEntered) ? "1" : "0") }
        if rows.contains(where: { page.flags[$0].contains(.manual) }) {
            out.column("manual", rows) { out, row in out.text(page.flags[row].contains(.manual) ? "1" : "0") }
        }
        if ids { out.column("id", rows) { out, row in out.quoted(page.ids[row].description.utf8) } }
        if !page.created.isEmpty {
            out.column("created", rows) { out, row in out.number(page.created[row]) }
            out.column("uuid", rows) { out, row in
                if row < page.healthKitUUID.count, let uuid = page.healthKitUUID[row] {
                    out.quoted(uuid.description.utf8)
                } else {
                    out.text("null")
                }
            }
            out.column("metadata", rows) { out, row in out.detail(page.metadata, row) }
            out.column("payload", rows) { out, row in out.detail(page.payload, row) }
        }
        out.text("}}\n")
        return out.bytes
    }

    /// Which of a page's names these rows use, and the position of each in that list.
    private struct Table {
        private(set) var used: [Int32] = []
        private var places: [Int32: Int] = [:]

        init(_ column: [Int32], _ rows: Range<Int>) {
            for entry in Set(column[rows]).sorted() {
                places[entry] = used.count
                used.append(entry)
            }
        }

        func place(of entry: Int32) -> Int { places[entry] ?? 0 }
    }
}

/// Writes columns as JSON, without a value tree in between.
private struct ColumnText {
    var bytes: [UInt8] = []

    mutating func text(_ text: String) { bytes.append(contentsOf: text.utf8) }
    mutating func number(_ number: some BinaryInteger) { text(String(number)) }
    mutating func quoted(_ utf8: some Sequence<UInt8>) { bytes.append(jsonString: utf8) }

    mutating func list<Entry>(_ entries: some Sequence<Entry>, _ body: (inout ColumnText, Entry) -> Void) {
        var separator = UInt8(ascii: "[")
        for entry in entries {
            bytes.append(separator)
            separator = UInt8(ascii: ",")
            body(&self, entry)
        }
        if separator == UInt8(ascii: "[") { bytes.append(separator) }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func column(_ name: String, _ rows: Range<Int>, _ body: (inout ColumnText, Int) -> Void) {
        text(",\"\(name)\":")
        list(rows, body)
    }

    mutating func source(_ origin: Origin) {
        var members: [String: Value] = [
            "name": .string(origin.sourceName), "version": .string(origin.sourceVersion),
            "productType": .string(origin.productType), "device": .string(origin.device),
            "rank": .integer(Int64(SourceRank.rank(origin: origin, userEntered: false))),
        ]
        if !origin.otherNames.isEmpty { members["otherNames"] = .array(origin.otherNames.map { .string($0) }) }
        text(Value.object(members).json())
    }

    mutating func detail(_ column: TextColumn, _ row: Int) {
        guard row < column.count, !column.isEmpty(row) else { return text("null") }
        quoted(column.bytes[column.range(row)])
    }
}

/// A day's lines, each encoded when it is written: a day of any length takes the memory of one line.
package struct ExecDayLines: IteratorProtocol {
    private let input: DayInput
    private let ids: Bool
    /// The next line's first row; nil for the line that begins the day.
    private var row: Int?
    private var isOver = false

    package init(_ input: DayInput, ids: Bool) { (self.input, self.ids) = (input, ids) }

    package mutating func next() -> [UInt8]? {
        guard !isOver else { return nil }
        guard let first = row else {
            row = 0
            return ExecLines.day(input)
        }
        guard first < input.samples.count else {
            isOver = true
            return ExecLines.compute(input.day)
        }
        let rows = first..<min(first + ExecLines.rowsPerLine, input.samples.count)
        row = rows.upperBound
        return ExecLines.samples(input.samples, rows: rows, ids: ids)
    }
}
