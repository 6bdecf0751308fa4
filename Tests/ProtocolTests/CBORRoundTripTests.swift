import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct CBORRoundTripTests {
    @Test func anyValueComesBackAsItWas() throws {
        var random = SeededRandom(seed: 8949)
        for number in 0..<20_000 {
            let value = random.value(depth: 5)
            let bytes = CBOREncoder.encode(value)
            let back = try CBORDecoder.decode(bytes)
            try #require(back == value, "value \(number)")
            // Equal values have equal bytes: changelogs rely on that.
            try #require(CBOREncoder.encode(back).elementsEqual(bytes), "value \(number)")
        }
    }

    @Test func keysAreSortedWhateverTheOrderOfInsertion() {
        let names = (0..<50).map { "key\($0)" }
        let a = Dictionary(uniqueKeysWithValues: names.map { ($0, Value.integer(1)) })
        let b = Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, Value.integer(1)) })
        #expect(CBOREncoder.encode(.object(a)) == CBOREncoder.encode(.object(b)))
    }

    /// Keys that Swift's string comparison considers equal up to a point; beyond that, their order depends on how a
    /// string is stored.
    @Test func keysAreSortedByTheirBytes() throws {
        let value: Value = ["e\u{301}": 1, "\u{E9}\n": 2, "\u{E9}\0": 3, "f": 4, "": 5]
        let keys = ["", "e\u{301}", "f", "\u{E9}\0", "\u{E9}\n"]
        let numbers: [Value] = [5, 1, 4, 3, 2]
        var expected: [UInt8] = [0xA5]
        for (key, number) in zip(keys, numbers) {
            expected += CBOREncoder.encode(.string(key)) + CBOREncoder.encode(number)
        }
        #expect(CBOREncoder.encode(value) == expected)
        #expect(value.json() == "{\"\":5,\"e\u{301}\":1,\"f\":4,\"\u{E9}\\u0000\":3,\"\u{E9}\\n\":2}")
    }

    @Test func notANumberKeepsItsKind() throws {
        let back = try CBORDecoder.decode(CBOREncoder.encode(.number(.nan)))
        #expect(back.double?.isNaN == true)
    }

    /// RFC 8949, appendix A, and RFC 8746, section 2: bytes as other implementations write them.
    @Test(arguments: [
        ("00", Value.integer(0)), ("1818", .integer(24)), ("1b7fffffffffffffff", .integer(.max)),
        ("3b7fffffffffffffff", .integer(.min)), ("20", .integer(-1)), ("3903e7", .integer(-1000)),
        ("f93e00", .number(1.5)), ("fa47c35000", .number(100_000)), ("fb3ff199999999999a", .number(1.1)),
        ("f97c00", .number(.infinity)), ("f4", .bool(false)), ("f6", .null), ("f7", .null),
        ("4401020304", .bytes([1, 2, 3, 4])),
        ("62c3bc", .string("ü")), ("8301820203820405", .array([1, [2, 3], [4, 5]])), ("a0", .object([:])),
        ("a26161016162820203", .object(["a": 1, "b": [2, 3]])), ("d84043010203", .column(.uint8([1, 2, 3]))),
        ("d84e48ffffffff02000000", .column(.int32([-1, 2]))), ("d84f480100000000000080", .column(.int64([.min + 1]))),
        ("d85648000000000000f83f", .column(.float64([1.5]))), ("d84f40", .column(.int64([]))),
        // An unknown tag only says how to interpret its content, so the content is kept.
        ("c11a514b67b0", .integer(1_363_896_240)),
    ])
    func readsWhatTheStandardSays(hex: String, value: Value) throws {
        #expect(try CBORDecoder.decode([UInt8](hex: hex)) == value)
    }

    @Test func readsAnyCollection() throws {
        let bytes = CBOREncoder.encode(["a": 1])
        #expect(try CBORDecoder.decode(AnyCollection(bytes)) == ["a": 1])
        #expect(try CBORDecoder.decode(([0, 0] + bytes).dropFirst(2)) == ["a": 1])
    }
}

extension [UInt8] {
    /// The bytes given by a test's hexadecimal text; an invalid digit counts as 0.
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
