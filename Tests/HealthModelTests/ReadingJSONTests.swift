import Foundation
import HealthModel
import TestSupport
import Testing

/// Compares our own JSON reader with Foundation's.
@Suite struct ReadingJSONTests {
    static func foundation(_ text: [UInt8]) -> Value? { try? JSONDecoder().decode(Value.self, from: Data(text)) }

    @Test(
        arguments: [
            "null", " true ", "[]", "{}", "0", "-0", "-0.0", "1.0", "1e2", "1.5e-3", "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808", "1e400", "1e-400", "12345678901234567890.5", "9007199254740993.0",
            "28337056321654354.2", "-1e18", "90071992547409.0", "01", "+1", ".5", "5.", "1e", "--1",
            "NaN",
            "{\"a\":1,\"a\":2}", "{\"a\":null,\"a\":2}", "{\"a\":1,}", "[1,]", "{a:1}", "// no\n1", "'x'",
            "\"\\u0000\"",
            "\"\\u00e4\\n\\\"\\/\"", "\"\\ud83d\\ude00\"", "\"\\x\"", "\"\u{7}\"", "", " ", "1 2", "[1 2]", "{\"a\" 1}",
            "[[[[1]]]]",
            "{\"\\u0061\":1,\"b\":[true,false,null]}", "\u{feff}1", "\"\u{1F600}\"", "tru", "nul", "[", "{\"a\":",
        ])
    func readsAsFoundationDoes(_ text: String) throws {
        let bytes = Array(text.utf8)
        let expected = Self.foundation(bytes)
        #expect((try? Value(json: bytes)) == expected)
        if let strict = Value(strictJSON: bytes) { #expect(strict == expected) }
    }

    @Test func strictTextNeedsNoHelp() {
        for text in ["{\"a\":[1,2.5,\"x\",null,true,{\"b\":{}}]}", "\"\\ud83d\\ude00\"", "-0.0", " [ 1 , 2 ] "] {
            #expect(Value(strictJSON: Array(text.utf8)) != nil)
        }
    }

    @Test func halfOfAPairIsAMarkOfWhatIsMissing() throws {
        #expect(try Value(json: "\"a\\ud800b\"".utf8) == "a\u{FFFD}b")
    }

    @Test func depthIsBounded() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(throws: (any Error).self) { try Value(json: nested(100_000)) }
        _ = try Value(json: nested(400))
    }

    /// Random trees as JSON text, and the same text after a few bytes have been changed.
    @Test(arguments: 0..<20) func anyTextIsReadAsFoundationReadsIt(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let value = Self.tree(&random, depth: 4)
            var text = Array(value.json(pretty: .random(using: &random)).utf8)
            #expect(Value(strictJSON: text) == Self.foundation(text))
            #expect(try Value(json: text).json() == value.json())
            for _ in 0..<3 {
                text[Int.random(in: 0..<text.count, using: &random)] = Self.bytes.randomElement(using: &random) ?? 0
            }
            let expected = Self.foundation(text)
            #expect((try? Value(json: text)) == expected, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    private static let bytes = Array("{}[]\",:\\0123456789.eE+-tfn /'u".utf8)

    private static func tree(_ random: inout SeededRandom, depth: Int) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(.random(in: .min ... .max, using: &random))
        case 3: return .integer(.random(in: -1000...1000, using: &random))
        case 4: return .number(Double(Int.random(in: -1_000_000...1_000_000, using: &random)) / 1024 + 0.0001)
        case 5: return .string(text(&random))
        case 6: return .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in tree(&random, depth: depth - 1) })
        default:
            var members: [String: Value] = [:]
            for _ in 0..<Int.random(in: 0..<5, using: &random) {
                members[text(&random)] = tree(&random, depth: depth - 1)
            }
            return .object(members)
        }
    }

    private static func text(_ random: inout SeededRandom) -> String {
        let characters: [Character] = ["a", "\"", "\\", "\n", "/", "ä", "😀", "\u{0}", "\u{2028}", " ", "7"]
        return String(
            (0..<Int.random(in: 0..<6, using: &random)).compactMap { _ in characters.randomElement(using: &random) })
    }
}
