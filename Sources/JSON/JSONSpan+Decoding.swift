import Glibc

extension JSONSpan {
    /// Whether a string without escapes is exactly this text.
    @inlinable
    package static func == (span: JSONSpan, text: StaticString) -> Bool {
        span.bytes.count == text.utf8CodeUnitCount && span.kind == .string
            && span.bytes.baseAddress.map { memcmp($0, text.utf8Start, text.utf8CodeUnitCount) == 0 } ?? true
    }

    /// A string's text, with escapes resolved; nil for anything that isn't a string.
    package var text: String? {
        switch kind {
        case .string: String(decoding: bytes, as: UTF8.self)
        case .escapedString: unescaped()
        default: nil
        }
    }

    /// The value as an integer, including a number such as 3.0; nil for anything else, or an integer beyond 64 bits.
    package var integer: Int64? {
        guard kind == .number else { return nil }
        var magnitude: Int64 = 0
        var negative = false
        for (index, byte) in bytes.enumerated() {
            if index == 0, byte == UInt8(ascii: "-") {
                negative = true
                continue
            }
            guard byte &- 0x30 < 10 else { return double.flatMap { Int64(exactly: $0) } }
            // Accumulates a negative number, since the lowest integer has no positive counterpart.
            let (tens, tooSmall) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = tens.subtractingReportingOverflow(Int64(byte &- 0x30))
            if tooSmall || overflow { return nil }
            magnitude = sum
        }
        if negative { return magnitude }
        return magnitude == .min ? nil : -magnitude
    }

    /// The nearest double; nil for anything that isn't a number, or is beyond a double's range.
    package var double: Double? {
        guard kind == .number else { return nil }
        return DecimalText.parse(bytes.assumingMemoryBound(to: UInt8.self))
    }

    private func unescaped() -> String? {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                out.append(bytes[index])
                index += 1
                continue
            }
            let code = bytes[index + 1]
            index += 2
            switch code {
            case UInt8(ascii: "n"): out.append(0x0A)
            case UInt8(ascii: "r"): out.append(0x0D)
            case UInt8(ascii: "t"): out.append(0x09)
            case UInt8(ascii: "b"): out.append(0x08)
            case UInt8(ascii: "f"): out.append(0x0C)
            case UInt8(ascii: "u"):
                var unit = hexUnit(at: index)
                index += 4
                if unit & 0xFC00 == 0xD800, index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"),
                    bytes[index + 1] == UInt8(ascii: "u"), hexUnit(at: index + 2) & 0xFC00 == 0xDC00
                {
                    unit = 0x10000 + (unit & 0x3FF) << 10 + hexUnit(at: index + 2) & 0x3FF
                    index += 6
                }
                // Half a surrogate pair isn't a character: it becomes U+FFFD, as usual in Unicode.
                out.append(contentsOf: Array(String(Character(Unicode.Scalar(unit) ?? "\u{FFFD}")).utf8))
            default: out.append(code)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    private func hexUnit(at index: Int) -> UInt32 {
        var unit: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            unit = unit << 4 | UInt32(byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57)
        }
        return unit
    }
}
