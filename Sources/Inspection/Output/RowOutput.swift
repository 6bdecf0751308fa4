import HealthModel
import JSON
import Logging
import Terminal

/// Rows of named columns, written as they arrive: CSV, JSON, one JSON object per line, or an aligned table. Memory use
/// doesn't grow with the number of rows.
///
/// For each row, write the cells in the order of the columns, then call `endRow`; at the end, call `finish`.
package final class RowOutput {
    package enum Format: Sendable, Equatable {
        /// RFC 4180, with a header and lines that end with LF; a missing value is an empty field, an empty string is
        /// `""`.
        case csv
        /// An array of objects, one per line.
        case json
        /// One object per line.
        case lines
        /// For people.
        case table(Terminal)
    }

    private let format: Format
    private let columns: [String]
    /// `,"name":` for each column, with `{` in place of the comma for the first.
    private let keys: [[UInt8]]
    private let write: (UnsafeBufferPointer<UInt8>) -> Bool
    private var buffer: [UInt8] = []
    private var column = 0
    private var table: RowTable?
    package private(set) var rows = 0

    package static let unread = Failure(
        "standard output accepts nothing more", hint: "is the disk full, or has its reader ended?")

    private static let bufferBytes = 64 << 10

    /// - Parameter write: receives bytes; returns false when they couldn't be written.
    package init(
        _ columns: [String], _ format: Format,
        write: @escaping (UnsafeBufferPointer<UInt8>) -> Bool = { StandardStream.output.write($0) }
    ) {
        (self.columns, self.format, self.write) = (columns, format, write)
        keys = columns.enumerated().map { index, name in
            var key: [UInt8] = index == 0 ? [UInt8(ascii: "{")] : [UInt8(ascii: ",")]
            key.append(jsonString: name)
            key.append(UInt8(ascii: ":"))
            return key
        }
        switch format {
        case .csv:
            for name in columns { field(Array(name.utf8)) }
            buffer.append(UInt8(ascii: "\n"))
            column = 0
        case .table(let terminal): table = RowTable(columns, terminal)
        case .json, .lines: break
        }
    }

    private var isJSON: Bool { format == .json || format == .lines }

    /// Writes whatever precedes a cell.
    private func begin() {
        if isJSON {
            if column == 0 {
                if format == .json { buffer.append(contentsOf: rows == 0 ? Array("[\n".utf8) : Array(",\n".utf8)) }
            }
            buffer.append(contentsOf: keys[column])
        } else if format == .csv, column > 0 {
            buffer.append(UInt8(ascii: ","))
        }
        column += 1
    }

    private func plain(_ append: (inout [UInt8]) -> Void) {
        if table == nil {
            begin()
            append(&buffer)
        } else {
            var text: [UInt8] = []
            append(&text)
            table?.add(String(decoding: text, as: UTF8.self), isNumber: true)
        }
    }

    package func null() {
        guard table == nil else { return table?.add("", isNumber: true) ?? () }
        begin()
        if isJSON { buffer.append(json: "null") }
    }

    package func integer(_ number: Int64) { plain { $0.append(json: number) } }

    /// A value that isn't finite is written as a missing value.
    package func number(_ number: Double) {
        if number.isFinite { plain { $0.append(json: number) } } else { null() }
    }

    package func boolean(_ value: Bool) { plain { $0.append(json: value ? "true" : "false") } }

    /// UTF-8.
    package func text(_ text: UnsafeRawBufferPointer) {
        guard table == nil else { return table?.add(String(decoding: text, as: UTF8.self), isNumber: false) ?? () }
        begin()
        if isJSON { buffer.append(jsonString: text) } else { quoted(text) }
    }

    package func text(_ text: [UInt8]) { text.withUnsafeBytes { self.text($0) } }
    package func text(_ text: String) {
        var text = text
        text.withUTF8 { self.text(UnsafeRawBufferPointer($0)) }
    }

    /// ISO 8601 in UTC.
    package func moment(_ instant: Instant) {
        guard table == nil else { return table?.add(InstantText.iso8601(instant), isNumber: false) ?? () }
        begin()
        if isJSON { buffer.append(jsonDate: instant) } else { InstantText.append(iso8601: instant, to: &buffer) }
    }

    /// An id in lower case.
    package func uuid(_ id: SampleID) {
        guard table == nil else { return table?.add(id.description, isNumber: false) ?? () }
        begin()
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
        buffer.append(uuid: id)
        if isJSON { buffer.append(UInt8(ascii: "\"")) }
    }

    /// JSON text: unchanged in JSON, as a string elsewhere. An empty string means that there is no value.
    package func json(_ text: UnsafeRawBufferPointer) {
        guard !text.isEmpty else { return null() }
        guard isJSON else { return self.text(text) }
        begin()
        buffer.append(contentsOf: text)
    }

    /// Any value: lists and objects as JSON.
    package func value(_ value: Value) {
        switch value {
        case .null: null()
        case .bool(let value): boolean(value)
        case .integer(let number): integer(number)
        case .number(let number): self.number(number)
        case .string(let text): self.text(text)
        default: Array(value.json().utf8).withUnsafeBytes { json($0) }
        }
    }

    private func field(_ text: [UInt8]) {
        if column > 0 { buffer.append(UInt8(ascii: ",")) }
        text.withUnsafeBytes { quoted($0) }
        column += 1
    }

    private func quoted(_ text: UnsafeRawBufferPointer) {
        let needsQuotes = text.isEmpty || text.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        guard needsQuotes else { return buffer.append(contentsOf: text) }
        buffer.append(0x22)
        for byte in text {
            if byte == 0x22 { buffer.append(0x22) }
            buffer.append(byte)
        }
        buffer.append(0x22)
    }

    /// - Throws: `Failure` when the output accepts nothing more.
    package func endRow() throws {
        precondition(
            table != nil || column == columns.count, "a row's number of cells differs from the number of columns")
        column = 0
        rows += 1
        switch format {
        case .csv: buffer.append(UInt8(ascii: "\n"))
        case .lines: buffer.append(contentsOf: Array("}\n".utf8))
        case .json: buffer.append(UInt8(ascii: "}"))
        case .table: if let lines = table?.endRow() { buffer.append(contentsOf: lines.utf8) }
        }
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    /// Writes the end. A table without rows produces no output.
    package func finish() throws {
        switch format {
        case .json: buffer.append(contentsOf: Array((rows == 0 ? "[]\n" : "\n]\n").utf8))
        case .table: if let lines = table?.finish() { buffer.append(contentsOf: lines.utf8) }
        case .csv, .lines: break
        }
        try flush()
    }

    private func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        guard !buffer.isEmpty, !buffer.withUnsafeBufferPointer(write) else { return }
        throw Self.unread
    }
}
