/// Rows of text in aligned columns under a header.
public struct Table: Sendable {
    public struct Column: Sendable {
        public enum Alignment: Sendable { case left, right }
        public var title: String
        public var alignment: Alignment

        public init(_ title: String, _ alignment: Alignment = .left) {
            self.title = title
            self.alignment = alignment
        }

        /// For numbers.
        public static func number(_ title: String) -> Column { Column(title, .right) }
    }

    public let columns: [Column]
    public private(set) var rows: [[String]] = []

    public init(_ columns: [Column]) { self.columns = columns }

    /// - Parameter cells: one a column; missing ones are empty.
    public mutating func add(_ cells: [String]) {
        precondition(cells.count <= columns.count, "a row has more cells than the table has columns")
        rows.append(cells.map(Self.inOneLine) + Array(repeating: "", count: columns.count - cells.count))
    }

    /// The table, a line each, with a newline at the end of all. Lines are cut to the screen's width; where there is no screen
    /// they stay whole and plain.
    public func render(for terminal: Terminal) -> String {
        let widths = columns.indices.map { column in
            rows.reduce(DisplayWidth.of(columns[column].title)) { max($0, DisplayWidth.of($1[column])) }
        }
        func line(_ cells: [String]) -> String {
            var text = ""
            for (column, cell) in cells.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - DisplayWidth.of(cell))
                if column > 0 { text += "  " }
                text += columns[column].alignment == .right ? padding + cell : cell + padding
            }
            while text.last == " " { text.removeLast() }
            return terminal.isTerminal ? DisplayWidth.truncated(text, to: terminal.width) : text
        }
        let header = terminal.styled(line(columns.map(\.title)), .bold)
        return ([header] + rows.map(line)).map { $0 + "\n" }.joined()
    }

    /// A line break or an escape sequence in a name must not break the table or drive the terminal.
    private static func inOneLine(_ cell: String) -> String {
        String(
            String.UnicodeScalarView(cell.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
