/// What text and JSON must not contain, so that PostgreSQL can store them.
enum JSONForm {
    static let nul = "it contains the character NUL, which PostgreSQL can't store"
    static let surrogate = "it contains half a character (a lone surrogate), which PostgreSQL can't store"

    /// Whether any of the texts in a column may need checking.
    static func needsCheck(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { all in
            var place = 0
            while place < all.count {
                let byte = all[place]
                if byte == 0
                    || (byte == UInt8(ascii: "\\") && place + 1 < all.count && all[place + 1] == UInt8(ascii: "u"))
                {
                    return true
                }
                place += 1
            }
            return false
        }
    }

    /// Why a JSON text can't be stored; nil if it can.
    static func problem(_ text: ArraySlice<UInt8>) -> String? {
        var place = text.startIndex
        var isAfterHigh = false
        while place < text.endIndex {
            if text[place] == 0 { return nul }
            guard text[place] == UInt8(ascii: "\\"), place + 1 < text.endIndex else {
                if isAfterHigh { return surrogate }
                place += 1
                continue
            }
            guard text[place + 1] == UInt8(ascii: "u"), place + 6 <= text.endIndex else {
                if isAfterHigh { return surrogate }
                place += 2
                continue
            }
            let unit = text[place + 2..<place + 6].reduce(UInt32(0)) { $0 << 4 | hex($1) }
            let isLow = (0xDC00...0xDFFF).contains(unit)
            if unit == 0 { return nul }
            if isLow != isAfterHigh { return surrogate }
            isAfterHigh = (0xD800...0xDBFF).contains(unit)
            place += 6
        }
        return isAfterHigh ? surrogate : nil
    }

    private static func hex(_ digit: UInt8) -> UInt32 {
        UInt32(digit &- 0x30 < 10 ? digit &- 0x30 : (digit | 0x20) &- 0x57)
    }
}
