/// A date in the words and digits of a phone's language, taken apart: digits of any script become ASCII, and the word
/// for the half of the day, before or after the time, is set aside. Marks for the direction of writing don't count.
struct LocalizedDate {
    /// The text without the word.
    private(set) var ascii: [UInt8] = []
    /// The letters outside the digits, in small letters; empty if there are none.
    private(set) var word = ""
    /// Whether the text has anything but ASCII digits and signs.
    private(set) var isLocalized = false

    /// Longer texts aren't dates.
    private static let limit = 128

    init(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.count <= Self.limit else { return }
        var isInWord = false
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            let properties = scalar.properties
            if !scalar.isASCII || properties.isAlphabetic { isLocalized = true }
            if properties.numericType == .decimal, let digit = properties.numericValue {
                ascii.append(UInt8(ascii: "0") + UInt8(digit))
            } else if properties.isWhitespace {
                if ascii.last != UInt8(ascii: " ") { ascii.append(UInt8(ascii: " ")) }
            } else if properties.isAlphabetic || Self.isMark(properties.generalCategory) {
                word += properties.lowercaseMapping
                isInWord = true
                continue
            } else if scalar == "\u{2212}" {
                ascii.append(UInt8(ascii: "-"))
            } else if scalar.isASCII, scalar != "-" || !isInWord, "-:+".unicodeScalars.contains(scalar) {
                ascii.append(UInt8(scalar.value))
            }
            isInWord = false
        }
    }

    private static func isMark(_ category: Unicode.GeneralCategory) -> Bool {
        category == .nonspacingMark || category == .spacingMark
    }

    /// Nil if there is no word for it, or an unknown one.
    var isAfternoon: Bool? { word.isEmpty ? nil : AutoExportHalf.isAfternoon(word) }

    /// The number before the first sign; nil if the text doesn't begin with one.
    var year: Int? { Int(String(decoding: ascii.prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self)) }
}

/// Calendars that an iPhone may be set to, in which a date of our time has a year that no Gregorian date has.
enum PhoneCalendar: String {
    case japanese = "Japanese"
    case minguo = "Minguo"
    case persian = "Persian"
    case islamic = "Islamic"
    case coptic = "Coptic"
    case hebrew = "Hebrew"

    /// Nil for a year that is Gregorian, or of no known calendar.
    init?(ofForeignYear year: Int?) {
        switch year ?? 0 {
        case 1..<70: self = .japanese
        case 70..<200: self = .minguo
        // 1961 to 2033, and then 1992 to 2077.
        case 1340..<1412: self = .persian
        case 1412..<1500: self = .islamic
        case 1660..<1800: self = .coptic
        case 5660..<5900: self = .hebrew
        default: return nil
        }
    }

    /// The Gregorian year; nil if the number isn't one of our time, or of another calendar than the Buddhist one, in
    /// which only the number of the year differs.
    static func gregorian(_ year: Int) -> Int? {
        if (1800..<2300).contains(year) { return year }
        return (2443..<2843).contains(year) ? year - 543 : nil
    }
}
