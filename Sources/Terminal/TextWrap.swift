/// Text wrapped into a column, whose first line begins after some other text.
enum TextWrap {
    /// Below this width columns don't help, so line breaking is left to the terminal.
    private static let narrowest = 24

    /// `head`, then the words of `text` from column `indent` on. No line is longer than `width`, unless a single word
    /// doesn't fit.
    /// - Parameter width: nil to leave the text on one line; so does a width that leaves too little room.
    static func hanging(_ head: String, _ text: String, indent: Int, width: Int?) -> String {
        let first = head + String(repeating: " ", count: max(0, indent - DisplayWidth.of(head)))
        guard let width, width - indent >= narrowest else { return first + text + "\n" }
        var lines = [first]
        var isEmpty = true
        for word in text.split(separator: " ") {
            let line = lines[lines.count - 1]
            if !isEmpty, DisplayWidth.of(line) + 1 + DisplayWidth.of(String(word)) > width {
                lines.append(String(repeating: " ", count: indent) + word)
            } else {
                lines[lines.count - 1] = line + (isEmpty ? "" : " ") + word
            }
            isEmpty = false
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
