/// The fields of a line, `type;start;end;value;unit;source`, without the spaces and quotes around them. Those at the end
/// may be missing, and are then empty.
struct LineFields {
    private let texts: [String]

    var type: String { texts[0] }
    var start: String { texts[1] }
    var end: String { texts[2] }
    var value: String { texts[3] }
    var unit: String { texts[4] }
    var source: String { texts[5] }

    /// Whether the line names the fields instead of having a sample's.
    var isHeader: Bool { type.lowercased() == "type" }

    private static let count = 6

    /// - Parameter line: UTF-8. A field may be in quotes, in which two quotes stand for one.
    /// - Throws: `SampleProblem` if it has more fields, or a quote that isn't closed.
    init(_ line: ArraySlice<UInt8>) throws(SampleProblem) {
        var fields = Self.split(line)
        guard !fields.isOpen else { throw SampleProblem(reason: "a quote isn't closed") }
        while fields.texts.count < Self.count { fields.texts.append("") }
        guard fields.texts.dropFirst(Self.count).allSatisfy(\.isEmpty) else {
            throw SampleProblem(
                reason: "there are more than \(Self.count) fields: put quotes around one that has a semicolon")
        }
        texts = fields.texts
    }

    private static func split(_ line: ArraySlice<UInt8>) -> (texts: [String], isOpen: Bool) {
        let quote = UInt8(ascii: "\"")
        var texts: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        var index = line.startIndex
        while index < line.endIndex {
            let byte = line[index]
            index += 1
            if isQuoted, byte == quote {
                guard index < line.endIndex, line[index] == quote else {
                    isQuoted = false
                    continue
                }
                field.append(quote)
                index += 1
            } else if byte == quote, field.allSatisfy({ $0 == UInt8(ascii: " ") }) {
                // Only the first character of a field opens a quote: a source's name may have some.
                isQuoted = true
                field = []
            } else if byte == UInt8(ascii: ";"), !isQuoted {
                texts.append(trimmed(field))
                field = []
            } else {
                field.append(byte)
            }
        }
        texts.append(trimmed(field))
        return (texts, isQuoted)
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self).drop { $0.isWhitespace }
        guard let last = text.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(text[...last])
    }
}
