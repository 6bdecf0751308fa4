import Foundation
import HTTP
import Testing

/// The scanner against Foundation's parser, the writer against what reads it back.
struct JSONTests {
    private func span(_ text: String) throws -> (kind: JSONSpan.Kind, text: String?, integer: Int64?, double: Double?) {
        try Array(text.utf8).withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            let span = try scanner.value()
            try scanner.end()
            return (span.kind, span.text, span.integer, span.double)
        }
    }

    @Test(arguments: [
        "1", "-0", "0.5", "1e5", "-1.25E-3", "123456789012345678", "9223372036854775807", "-9223372036854775808",
        "1e400",
        "0.1", "179769313486231570000000000", "2.2250738585072011e-308", "61.384615384615387", "\"a\"", "\"\"",
        "\"\\u00e4\\n\"",
        "\"\\ud83d\\ude00\"", "{}", "[]", " [ 1 , {\"a\" : [true,false,null] } ] ", "{\"a\":{\"b\":[[]]},\"c\":1}",
    ])
    func accepts(_ text: String) throws {
        let found = try span(text)
        guard text != "1e400" else {
            #expect(found.double == nil)
            return
        }
        let expected = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        if let string = expected as? String { #expect(found.text == string) }
        if found.kind == .number { #expect(found.double == Double(text)) }
        if found.kind == .number, let integer = Int64(text) { #expect(found.integer == integer) }
    }

    @Test(arguments: [
        "", " ", "{", "}", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,\"a\":1}",
        "{a:1}",
        "01", "+1", "1.", ".5", "1e", "-", "tru", "nul", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\\u12", "\"a\nb\"", "1 1",
        "{} {}",
        "'a'", "NaN", "[1}", "{\"a\":1]",
    ])
    func refuses(_ text: String) {
        #expect(throws: JSONScanError.self) { try span(text) }
    }

    @Test func nestingIsBounded() {
        #expect(throws: Never.self) { try span(String(repeating: "[", count: 64) + String(repeating: "]", count: 64)) }
        #expect(throws: JSONScanError.self) { try span(String(repeating: "[", count: 100_000)) }
    }

    @Test func aPrefixNeverPasses() throws {
        let text = Array(#"{"a":[1.5e3,"x\u00e4y",{"b":null}],"c":true}"#.utf8)
        for count in 0..<text.count {
            #expect(throws: JSONScanError.self) { try span(String(decoding: text[..<count], as: UTF8.self)) }
        }
    }

    @Test func doublesReadBackTheSame() {
        var generator = SplitMix(seed: 3)
        var numbers: [Double] = [
            0, -0.0, 1, -1, 0.1, 0.3, 1e15, 1e22, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 61.5, 72.123456,
            1e-7,
        ]
        for _ in 0..<20_000 {
            numbers.append(Double(Int.random(in: -1_000_000...1_000_000, using: &generator)) / 1000)
            numbers.append(Double.random(in: -1e6...1e6, using: &generator))
            let bits = Double(bitPattern: generator.next())
            if bits.isFinite { numbers.append(bits) }
        }
        for number in numbers {
            var out: [UInt8] = []
            out.append(json: number)
            let text = String(decoding: out, as: UTF8.self)
            #expect(Double(text) == number)
            // As short as the standard library's, which is the shortest; it writes ".0" after whole numbers.
            #expect(text.utf8.count <= number.description.utf8.count)
        }
    }

    @Test(arguments: [
        0, -1, 1_743_322_500_000_000, 1_743_322_500_500_000, -1_000_001, 253_402_300_799_999_999, 951_782_400_000_000,
    ])
    func datesReadBackTheSame(_ microseconds: Int64) {
        let text = ISODate.text(microseconds)
        #expect(Array(text.utf8).withUnsafeBytes { ISODate.microseconds($0) } == microseconds, "\(text)")
    }

    @Test(
        arguments: [
            ("2025-03-30T10:15:00+02:00", 1_743_322_500_000_000),
            ("2025-03-30T08:15:00.123456789Z", 1_743_322_500_123_456),
            ("2025-03-30T03:15:00-0500", 1_743_322_500_000_000), ("1969-12-31T23:59:59Z", -1_000_000),
            ("2025-02-29T00:00:00Z", nil), ("2025-03-30T08:15:00", nil), ("2025-03-30", nil),
            ("2025-03-30T24:00:00Z", nil),
            ("2025-03-30T08:15:00.Z", nil), ("2025-03-30T08:15:00Zx", nil), ("2025-03-30T08:15:00+2", nil), ("", nil),
        ] as [(String, Int64?)])
    func dates(_ text: String, _ expected: Int64?) {
        #expect(Array(text.utf8).withUnsafeBytes { ISODate.microseconds($0) } == expected)
    }

    @Test func stringsReadBackTheSame() throws {
        let text = String(decoding: (0..<128).map { UInt8($0) }, as: UTF8.self) + "\"\\ä😀"
        var out: [UInt8] = []
        out.append(jsonString: text)
        #expect(try span(String(decoding: out, as: UTF8.self)).text == text)
        let foundation = try JSONSerialization.jsonObject(with: Data(out), options: .fragmentsAllowed) as? String
        #expect(foundation == text)
    }
}
