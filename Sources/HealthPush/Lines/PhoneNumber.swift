import JSON

/// A number as phones print it, in any language and with digits of any script: `1234.5`, `1,234.5`, `1.234,5`,
/// `1 234,5`, `1’234.5`, `12,34,567`, `١٬٢٣٤٫٥`, `97 %`.
///
/// The number itself shows what its comma or point means: the last of two different signs is the decimal sign; a sign
/// that comes twice groups digits; one that isn't before exactly three digits, or is behind a 0 or more than three
/// digits, is the decimal sign. One form shows nothing: `1,234` and `1.234` may be 1234 or 1.234. Such a number is open.
struct PhoneNumber {
    /// A sign that groups digits in some languages, and is the decimal sign in others.
    enum Sign {
        case comma, point

        var other: Sign { self == .comma ? .point : .comma }
    }

    /// An open number's other reading.
    struct Open {
        let sign: Sign
        /// As a program prints it, if the sign groups digits.
        let grouped: [UInt8]
    }

    /// As a program prints it; for an open number, if its sign is the decimal sign.
    private(set) var text: [UInt8]
    /// nil if there is only one reading.
    private(set) var open: Open?
    /// The decimal sign of the language that it is printed in; nil if it doesn't show that.
    private(set) var shown: Sign?
    private(set) var hasPercent = false

    /// Longer texts aren't numbers.
    private static let limit = 128

    /// Nil for text that isn't a number.
    init?(_ printed: String) {
        guard printed.utf8.count <= Self.limit else { return nil }
        if printed.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
            // A program's, with an exponent.
            text = Array(printed.utf8)
            guard text.withUnsafeBufferPointer({ DecimalText.parse($0) }) != nil else { return nil }
            return
        }
        guard let parts = Parts(printed) else { return nil }
        hasPercent = parts.hasPercent
        text = parts.isNegative ? [UInt8(ascii: "-")] : []
        let digits = Array(parts.groups.joined())
        guard let last = parts.separators.last else {
            text += digits
            return
        }
        let (whole, fraction) = (parts.groups.dropLast(), parts.groups[parts.groups.count - 1])
        let before = parts.separators.dropLast()
        if parts.separators.count == 1 ? last.onlyGroups : before.allSatisfy({ $0 == last }) {
            guard Parts.mayGroup(last), Self.areThousands(parts.groups[...]) else { return nil }
            shown = last.sign?.other
            text += digits
            return
        }
        guard !last.onlyGroups, !fraction.isEmpty, before.first.map(Parts.mayGroup) ?? true,
            before.allSatisfy({ $0 == before.first }), before.isEmpty || Self.areThousands(whole)
        else { return nil }
        let isOpen =
            before.isEmpty && Self.areThousands(parts.groups[...]) && digits.first != UInt8(ascii: "0")
        if isOpen, let sign = last.sign {
            open = Open(sign: sign, grouped: text + digits)
        } else {
            shown = last.sign
        }
        text += whole.joined()
        text.append(UInt8(ascii: "."))
        text += fraction
    }

    /// Whether digits may be grouped so: three in the last group, and as many or, as in India, two in those before.
    private static func areThousands(_ groups: ArraySlice<[UInt8]>) -> Bool {
        guard let first = groups.first, (1...3).contains(first.count), groups.last?.count == 3 else { return false }
        return groups.dropFirst().allSatisfy { (2...3).contains($0.count) }
    }
}

/// A printed number, taken apart.
private struct Parts {
    enum Separator {
        case comma, point
        /// Arabic's, which is nothing else.
        case decimal
        case space, mark

        var sign: PhoneNumber.Sign? {
            switch self {
            case .comma: .comma
            case .point: .point
            default: nil
            }
        }

        var onlyGroups: Bool { self == .space || self == .mark }

        init?(_ scalar: Unicode.Scalar) {
            switch scalar {
            case ",", "\u{FF0C}": self = .comma
            case ".", "\u{FF0E}": self = .point
            case "\u{66B}": self = .decimal
            // Apostrophes, and what groups digits in Arabic, N'Ko and Adlam.
            case "'", "\u{2019}", "\u{66C}", "\u{60C}", "\u{2E41}": self = .mark
            default:
                guard scalar.properties.isWhitespace else { return nil }
                self = .space
            }
        }
    }

    /// One more than there are separators.
    private(set) var groups: [[UInt8]] = [[]]
    private(set) var separators: [Separator] = []
    private(set) var isNegative = false
    private(set) var hasPercent = false

    static func mayGroup(_ separator: Separator) -> Bool { separator != .decimal }

    init?(_ text: String) {
        var (hasDigit, hasSign, isOver) = (false, false, false)
        for scalar in text.unicodeScalars {
            let properties = scalar.properties
            if properties.numericType == .decimal, let digit = properties.numericValue {
                guard !isOver else { return nil }
                hasDigit = true
                groups[groups.count - 1].append(UInt8(ascii: "0") + UInt8(digit))
            } else if properties.generalCategory == .format {
                // Marks for the direction of writing.
                continue
            } else if "%\u{66A}\u{FF05}".unicodeScalars.contains(scalar) {
                guard !hasPercent else { return nil }
                (hasPercent, isOver) = (true, hasDigit)
            } else if "+-\u{2212}".unicodeScalars.contains(scalar) {
                guard !hasDigit, !hasSign else { return nil }
                (hasSign, isNegative) = (true, scalar != "+")
            } else if let separator = Separator(scalar) {
                separators.append(separator)
                groups.append([])
            } else {
                return nil
            }
        }
        dropOuterSpaces()
        guard hasDigit else { return nil }
    }

    /// Those beside a percent or minus sign.
    private mutating func dropOuterSpaces() {
        while separators.last == .space, groups.last?.isEmpty == true {
            separators.removeLast()
            groups.removeLast()
        }
        while separators.first == .space, groups.first?.isEmpty == true {
            separators.removeFirst()
            groups.removeFirst()
        }
    }
}
