/// Rows of text in aligned columns under a header.
package struct Table: Sendable {
    package struct Column: Sendable {
        package enum Alignment: Sendable { case left, right }
        package var title: String
        package var alignment: Alignment
        /// The order in which columns are dropped when the screen is too narrow for all of them: 1 goes first, nil
        /// never goes.
        package var givesWay: Int?

        package init(_ title: String, _ alignment: Alignment = .left, givesWay: Int? = nil) {
            (self.title, self.alignment, self.givesWay) = (title, alignment, givesWay)
        }

        /// For numbers.
        package static func number(_ title: String, givesWay: Int? = nil) -> Column {
            Column(title, .right, givesWay: givesWay)
        }
    }

    package let columns: [Column]
    package private(set) var rows: [[String]] = []

    package init(_ columns: [Column]) { self.columns = columns }

    /// - Parameter cells: one per column; missing ones are empty.
    package mutating func add(_ cells: [String]) {
        precondition(cells.count <= columns.count, "a row has more cells than the table has columns")
        rows.append(cells.map(Self.inOneLine) + Array(repeating: "", count: columns.count - cells.count))
    }

    /// The table, with one line per row, ending with a newline. On a screen that is too narrow, columns are left out in
    /// the order of `givesWay`, and then lines are cut. Without a screen the table stays whole and unstyled.
    package func render(for terminal: Terminal) -> String {
        let widths = columns.indices.map { column in
            rows.reduce(DisplayWidth.of(columns[column].title)) { max($0, DisplayWidth.of($1[column])) }
        }
        let shown = shownColumns(widths, on: terminal)
        func line(_ cells: [String]) -> String {
            var text = ""
            for column in shown {
                let cell = cells[column]
                let padding = String(repeating: " ", count: widths[column] - DisplayWidth.of(cell))
                if column != shown.first { text += "  " }
                text += columns[column].alignment == .right ? padding + cell : cell + padding
            }
            text = text.withoutTrailingSpaces
            return terminal.isTerminal ? DisplayWidth.truncated(text, to: terminal.width) : text
        }
        let header = terminal.styled(line(columns.map(\.title)), .bold)
        return ([header] + rows.map(line)).map { $0 + "\n" }.joined()
    }

    private func shownColumns(_ widths: [Int], on terminal: Terminal) -> [Int] {
        var shown = Array(columns.indices)
        guard terminal.isTerminal else { return shown }
        while shown.reduce(-2, { $0 + 2 + widths[$1] }) > terminal.width {
            let next = shown.filter { columns[$0].givesWay != nil }
                .min { columns[$0].givesWay ?? .max < columns[$1].givesWay ?? .max }
            guard let next else { break }
            shown.removeAll { $0 == next }
        }
        return shown
    }

    /// A line break or an escape sequence in a name must not break the table or control the terminal.
    package static func inOneLine(_ cell: String) -> String {
        String(
            String.UnicodeScalarView(cell.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}

extension String {
    package var withoutTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
