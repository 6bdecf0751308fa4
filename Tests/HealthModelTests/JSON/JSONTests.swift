import Foundation
import JSON
import TestSupport
import Testing

/// Compares the scanner with Foundation's parser, and reads back what the writer wrote.
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
        var generator = SeededRandom(seed: 3)
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
            // No longer than the form of the standard library, which is the shortest one except for the ".0" after
            // whole numbers.
            #expect(text.utf8.count <= number.description.utf8.count)
        }
    }

    @Test(arguments: [0x00, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7F] as [UInt8])
    func specialBytesAtEveryPlace(_ special: UInt8) throws {
        for place in 0..<20 {
            var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 20)
            bytes[place] = special
            let text = String(decoding: bytes, as: UTF8.self)
            if special < 0x20 || special == 0x22 || special == 0x5C {
                #expect(throws: JSONScanError.self) { try span("\"" + text + "\"") }
            } else {
                #expect(try span("\"" + text + "\"").text == text)
            }
            var out: [UInt8] = []
            out.append(jsonString: text)
            #expect(try span(String(decoding: out, as: UTF8.self)).text == text)
        }
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
