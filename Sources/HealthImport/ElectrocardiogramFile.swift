import HealthModel

/// Reads an ECG's CSV file: rows of a name and a value, then one measurement per line.
///
/// Exports print the file in the phone's language, including the names of the rows, and with that language's decimal
/// mark. Names are recognized in English and German. In other languages, some rows are recognized by their content (a
/// date with a time, a number with a unit), and the rows in between by their positions, which are the same in all files
/// seen: date, classification, symptoms, version, device, rate; then lead and unit.
struct ElectrocardiogramFile {
    /// A row of the header.
    struct Row {
        var name: String
        var value: String
        /// Whether it comes after the last empty line between rows.
        var isInLastBlock = false
    }

    private static let mostRows = 64

    /// Whether a file begins like an ECG, whatever folder it is in.
    static func begins(_ head: [UInt8]) -> Bool {
        let rows = rows(of: String(decoding: head, as: UTF8.self)).rows
        let fields = ElectrocardiogramHead(rows)
        return fields.start != nil && fields.sampleRate != nil
    }

    static func read(_ content: [UInt8]) -> Result<Electrocardiogram, ElectrocardiogramProblem> {
        guard let text = String(validating: content, as: UTF8.self) else {
            return .failure(ElectrocardiogramProblem("it isn't text"))
        }
        let (rows, lines) = rows(of: text)
        let head = ElectrocardiogramHead(rows)
        do throws(ElectrocardiogramProblem) {
            var ecg = try head.electrocardiogram()
            ecg.measurements = try measurements(lines, shift: head.shift)
            return .success(ecg)
        } catch {
            var problem = error
            // Rows before the date contain the person's identity.
            problem.head = head.named.map { "\($0.name),\($0.value)" }
            return .failure(problem)
        }
    }

    /// The rows of the header, and the numbered lines from the first measurement on.
    private static func rows(of text: String) -> (rows: [Row], measurements: [(line: Int64, text: Substring)]) {
        var rows: [Row] = []
        var wasEmpty = false
        // Swift treats a Windows line break as one character.
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        for (index, line) in lines.enumerated() {
            let line = line.trimmed
            if line.isEmpty {
                wasEmpty = !rows.isEmpty
                continue
            }
            // A line that is a number isn't a row's name: the measurements begin there.
            if LocaleNumber.parse(LocaleNumber.plain(String(line))) != nil || rows.count == mostRows {
                return (rows, lines[index...].enumerated().map { (Int64(index + $0.offset + 1), $0.element) })
            }
            if wasEmpty { for row in rows.indices { rows[row].isInLastBlock = false } }
            let (name, value) = cells(line)
            rows.append(Row(name: name, value: value, isInLastBlock: wasEmpty || rows.last?.isInLastBlock == true))
            wasEmpty = false
        }
        return (rows, [])
    }

    /// A row's name, and everything after it, without quotes.
    private static func cells(_ line: Substring) -> (String, String) {
        let end = line.firstIndex { ",;\t".contains($0) } ?? line.endIndex
        var value = line[end...].dropFirst().trimmed
        if value.count > 1, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
        let name = line[..<end].drop { $0 == "\u{FEFF}" }.trimmed
        return (String(name), String(value.replacing("\"\"", with: "\"")))
    }

    private static func measurements(
        _ lines: [(line: Int64, text: Substring)], shift: Int
    ) throws(ElectrocardiogramProblem) -> [Double] {
        var values: [Double] = []
        values.reserveCapacity(lines.count)
        var mark: UInt8?
        for (line, text) in lines {
            let text = text.trimmed
            if text.isEmpty { continue }
            let plain = LocaleNumber.plain(String(text))
            guard let value = LocaleNumber.parse(plain, shiftedBy: shift) else {
                throw ElectrocardiogramProblem("a measurement isn't a number", line: line)
            }
            if let own = LocaleNumber.mark(of: plain) {
                // Otherwise 1,234 could mean one thing on one line and another on the next.
                guard mark ?? own == own else {
                    throw ElectrocardiogramProblem("its numbers have two decimal marks", line: line)
                }
                mark = own
            }
            values.append(value)
        }
        guard !values.isEmpty else { throw ElectrocardiogramProblem("there are no measurements") }
        return values
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let rest = drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        let end = rest.lastIndex { !$0.isWhitespace } ?? rest.startIndex
        return rest.isEmpty ? rest : rest[...end]
    }
}
