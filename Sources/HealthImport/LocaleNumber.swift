import HealthModel
import JSON

/// Numbers as phones in any language print them, which may include a decimal comma, Arabic digits or a typographic
/// minus.
enum LocaleNumber {
    /// The same text with ASCII digits, minus, point and spaces, and without direction marks.
    static func plain(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let digit = digit(scalar) {
                scalars.append(Unicode.Scalar(0x30 + digit))
                continue
            }
            switch scalar.value {
            case 0x066B: scalars.append(".")
            case 0x2212: scalars.append("-")
            case 0xA0, 0x202F, 0x2009: scalars.append(" ")
            case 0x061C, 0x200E, 0x200F, 0xFEFF: break
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// What an ASCII, Arabic, Persian or Devanagari digit stands for; nil for anything else.
    static func digit(_ scalar: Unicode.Scalar) -> UInt8? {
        for zero: UInt32 in [0x30, 0x660, 0x6F0, 0x966] where (zero..<zero + 10).contains(scalar.value) {
            return UInt8(scalar.value - zero)
        }
        return nil
    }

    /// A number's decimal mark: the last of its points and commas; nil when it has none.
    static func mark(of text: some StringProtocol) -> UInt8? {
        Array(text.utf8).last { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
    }

    /// A plain string as a number; nil for anything else. A lone comma or point is the decimal mark; if there are both,
    /// the last one is, and the other separates thousands.
    /// - Parameter shift: how many places the decimal point moves to the right.
    static func parse(_ text: some StringProtocol, shiftedBy shift: Int = 0) -> Double? {
        guard let mark = mark(of: text) else { return decimal(Array(text.utf8), shift) }
        let bytes = Array(text.utf8)
        let other = mark == UInt8(ascii: ".") ? UInt8(ascii: ",") : UInt8(ascii: ".")
        guard bytes.count(where: { $0 == mark }) == 1 else { return nil }
        return decimal(bytes.filter { $0 != other }.map { $0 == mark ? UInt8(ascii: ".") : $0 }, shift)
    }

    private static func decimal(_ bytes: [UInt8], _ shift: Int) -> Double? {
        bytes.withUnsafeBufferPointer { DecimalText.parse($0, shiftedBy: shift) }
    }

    /// A number followed by a unit ("511,422 hertz"); nil for anything else.
    static func quantity(_ text: String) -> (number: Double, unit: String)? {
        let plain = plain(text)
        let digits = plain.prefix { $0.isASCII && ($0.isNumber || "+-.,".contains($0)) }
        let unit = plain.dropFirst(digits.count).drop { $0 == " " }
        guard unit.first?.isLetter == true, let number = parse(digits) else { return nil }
        return (number, String(unit))
    }
}
