import HealthModel
import TestSupport
import Testing

/// How types are read from bus input: what fits, what doesn't, and where the mismatch is.
@Suite struct ValueDecodingTests {
    private struct Inner: Codable, Equatable {
        var number: Int
        var at: Instant
    }

    private struct Whole: Codable, Equatable {
        var heads: [String: SequenceNumber]
        var counts: [String: Int64]
        var times: [String: Instant]
        var names: [String: String]
        var inner: [Inner]
        var bytes: [UInt8]
        var free: Value
        var ratio: Double?
        var flag: Bool?
        var text: String?
        var head: SequenceNumber?
        @OrNull var said: Instant?
        @IfAny var list: [String]
        @IfReadable var maybe: Inner?
    }

    private let whole = Whole(
        heads: ["a": 7], counts: ["b": -1], times: ["c": 3], names: ["d": "e"],
        inner: [Inner(number: 1, at: 2), Inner(number: 3, at: 4)], bytes: [1, 2], free: ["any": [1, "x"]], ratio: 0.5,
        flag: true, text: "t", head: 9, said: 5, list: ["l"], maybe: Inner(number: 6, at: 7))

    private func members(_ changes: [String: Value?] = [:]) -> Value {
        var members = Value(whole).object ?? [:]
        for (name, value) in changes { members[name] = value }
        return .object(members)
    }

    /// The place in the input that doesn't fit; nil if everything does.
    private func place(_ changes: [String: Value?]) -> String? {
        do {
            _ = try members(changes).decode(Whole.self)
            return nil
        } catch DecodingError.typeMismatch(_, let context) {
            return context.codingPath.map(\.stringValue).joined(separator: ".")
        } catch DecodingError.keyNotFound(let key, _) { return "no \(key.stringValue)" } catch { return "\(error)" }
    }

    @Test func comesBackAsItWas() throws { #expect(try members().decode(Whole.self) == whole) }

    @Test func whatMayBeMissingIsNilWithoutItAndWithNull() throws {
        let names = ["ratio", "flag", "text", "head", "said", "list", "maybe"]
        for empty in [Value?.none, .some(.null)] {
            let read = try members(Dictionary(uniqueKeysWithValues: names.map { ($0, empty) })).decode(Whole.self)
            #expect(read.ratio == nil && read.flag == nil && read.text == nil && read.head == nil)
            #expect(read.said == nil && read.list.isEmpty && read.maybe == nil)
        }
        #expect(place(["heads": Value?.none]) == "no heads")
    }

    @Test func saysWhereItDoesNotFit() {
        // One bad member is enough for a whole map to be refused.
        #expect(place(["heads": ["a": 1, "b": "x"]])?.hasPrefix("heads") == true)
        #expect(place(["counts": ["a": 0.5]])?.hasPrefix("counts") == true)
        #expect(place(["times": ["a": .null]]) != nil)
        #expect(place(["names": ["a": 1]])?.hasPrefix("names") == true)
        #expect(place(["heads": [1]]) == "heads")
        #expect(place(["inner": [["number": 1, "at": "x"]]]) == "inner.at")
        #expect(place(["ratio": "x"]) == "ratio")
        #expect(place(["flag": 1]) == "flag")
        #expect(place(["text": 1]) == "text")
        #expect(place(["head": "x"]) == "head")
        #expect(place(["said": "x"]) == "said")
        #expect(place(["list": 1]) == "list")
        // A member that is ignored if it can't be read is no reason to refuse the others.
        #expect(place(["maybe": ["number": "x", "at": 1]]) == nil)
    }

    /// Bytes are a separate type, not a list of numbers.
    @Test func aListOfNumbersIsNoBytes() {
        #expect(place(["bytes": .array([1, 2])]) == "bytes")
        #expect(place(["bytes": .column(.uint8([1, 2]))]) == nil)
    }
}
