import HealthModel
import TestSupport

extension SeededRandom {
    /// A value of any kind, with at most `depth` levels of arrays and objects.
    mutating func value(depth: Int) -> Value {
        switch Int.random(in: 0...(depth > 0 ? 12 : 10), using: &self) {
        case 0: .null
        case 1: .bool(.random(using: &self))
        case 2: .integer(integer())
        case 3: .number(number())
        case 4, 5: .string(text())
        case 6: .bytes(bytes())
        case 7: .column(.int64(list { $0.integer() }))
        case 8: .column(.int32(list { .random(in: .min ... .max, using: &$0) }))
        case 9: .column(.uint8(bytes()))
        case 10: .column(.float64(list { $0.number() }))
        case 11: .array(list { $0.value(depth: depth - 1) })
        default:
            .object(
                Dictionary(
                    list { random in (random.text(), random.value(depth: depth - 1)) },
                    uniquingKeysWith: { first, _ in first }))
        }
    }

    /// Integers, often close to the values at which the heads of CBOR items change length.
    mutating func integer() -> Int64 {
        let edges: [Int64] = [0, 23, 24, 255, 256, 65535, 65536, 1 << 32, .max, .min, -1, -24, -25, -256, -257]
        if Bool.random(using: &self) { return edges.randomElement(using: &self) ?? 0 }
        return .random(in: .min ... .max, using: &self)
    }

    /// Any number except NaN, which doesn't equal itself.
    mutating func number() -> Double {
        let edges = [0, -0.0, 1.5, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e15]
        if Bool.random(using: &self) { return edges.randomElement(using: &self) ?? 0 }
        let number = Double(bitPattern: next())
        return number.isNaN ? 0.5 : number
    }

    mutating func text() -> String {
        let letters: [Character] = ["a", "Z", "0", ".", "\0", "\n", "\"", "ß", "é", "e\u{301}", "語", "👩‍👧", "\u{10FFFF}"]
        let count =
            Bool.random(using: &self) ? Int.random(in: 0...4, using: &self) : Int.random(in: 0...300, using: &self)
        return String((0..<count).map { _ in letters.randomElement(using: &self) ?? "a" })
    }

    mutating func bytes() -> [UInt8] { list { .random(in: .min ... .max, using: &$0) } }

    mutating func list<Element>(_ make: (inout SeededRandom) -> Element) -> [Element] {
        let count = Int.random(in: 0...8, using: &self)
        return (0..<count).map { _ in make(&self) }
    }
}
