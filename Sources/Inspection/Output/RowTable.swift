import Terminal

/// A table with any number of rows: the first ones decide how wide the columns are, and which contain numbers.
struct RowTable {
    private static let looksAhead = 500

    private let columns: [String]
    private let terminal: Terminal
    private var widths: [Int]
    private var holdsNumbers: [Bool]
    private var waiting: [[String]] = []
    private var row: [String] = []
    private var isUnderWay = false

    init(_ columns: [String], _ terminal: Terminal) {
        (self.columns, self.terminal) = (columns, terminal)
        widths = columns.map(DisplayWidth.of)
        holdsNumbers = columns.map { _ in true }
    }

    mutating func add(_ cell: String, isNumber: Bool) {
        let cell = Table.inOneLine(cell)
        if !isUnderWay {
            if !isNumber { holdsNumbers[row.count] = false }
            widths[row.count] = max(widths[row.count], min(60, DisplayWidth.of(cell)))
        }
        row.append(cell)
    }

    /// Lines that are ready to be written.
    mutating func endRow() -> String? {
        defer { row.removeAll(keepingCapacity: true) }
        if isUnderWay { return line(row) }
        waiting.append(row)
        return waiting.count >= Self.looksAhead ? begin() : nil
    }

    mutating func finish() -> String? { isUnderWay || waiting.isEmpty ? nil : begin() }

    private mutating func begin() -> String {
        isUnderWay = true
        defer { waiting = [] }
        return terminal.styled(line(columns).trimmingLineEnd, .bold) + "\n" + waiting.map(line).joined()
    }

    private func line(_ cells: [String]) -> String {
        var text = ""
        for (index, cell) in cells.enumerated() {
            let padding = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(cell)))
            if index > 0 { text += "  " }
            text += holdsNumbers[index] ? padding + cell : cell + padding
        }
        text = text.withoutTrailingSpaces
        return (terminal.isTerminal ? DisplayWidth.truncated(text, to: terminal.width) : text) + "\n"
    }
}

extension String {
    fileprivate var trimmingLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}
