/// Reads the digits, signs and offset of a date, from left to right. Every step fails at the first byte that doesn't
/// fit and looks no further.
package struct DateScanner {
    package let bytes: UnsafeBufferPointer<UInt8>
    package var position = 0

    package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    package var isAtEnd: Bool { position == bytes.count }

    package func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    package mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// A number of exactly this many digits.
    package mutating func number(_ width: Int) -> Int? { number(width...width) }

    /// A number whose length is in this range, taking as many digits as there are.
    package mutating func number(_ width: ClosedRange<Int>) -> Int? {
        var result = 0
        var digits = 0
        while digits < width.upperBound, position + digits < bytes.count,
            let digit = Self.digit(bytes[position + digits])
        {
            result = result * 10 + digit
            digits += 1
        }
        guard digits >= width.lowerBound else { return nil }
        position += digits
        return result
    }

    /// The microseconds of a fraction of a second; 0 when there is none, nil when no digit follows the point.
    package mutating func fraction() -> Int64? {
        guard skip(".") || skip(",") else { return 0 }
        var micros: Int64 = 0
        var digits = 0
        while position < bytes.count, let digit = Self.digit(bytes[position]) {
            if digits < 6 { micros = micros * 10 + Int64(digit) }
            digits += 1
            position += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(digits, 6)..<6 { micros *= 10 }
        return micros
    }

    /// The offset in seconds east of Greenwich: `Z`, `+0200`, `+02:00` or `+02`.
    package mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isWest = skip("-")
        guard isWest || skip("+"), let hours = number(2), hours <= 18 else { return nil }
        var minutes = 0
        if position < bytes.count {
            _ = skip(":")
            guard let number = number(2), number < 60 else { return nil }
            minutes = number
        }
        let seconds = Int64(hours * 3600 + minutes * 60)
        return isWest ? -seconds : seconds
    }

    private static func digit(_ byte: UInt8) -> Int? {
        let digit = byte &- UInt8(ascii: "0")
        return digit < 10 ? Int(digit) : nil
    }
}
