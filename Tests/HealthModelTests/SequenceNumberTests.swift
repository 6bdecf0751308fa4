import HealthModel
import TestSupport
import Testing

@Suite struct SequenceNumberTests {
    private struct Kept: Codable, Equatable {
        var sequence: SequenceNumber
        var other: SequenceNumber?
        var heads: [String: SequenceNumber]
        var windows: [[SequenceNumber]]
    }

    @Test func theyAreInOrderBetweenBeginningAndEnd() {
        let sequence = SequenceNumber(1_795_192_496_137)
        #expect(SequenceNumber.beginning < sequence)
        #expect(sequence < .end)
        #expect(sequence.previous < sequence && sequence < sequence.next)
        #expect(sequence.next.previous == sequence)
        #expect([sequence.next, .beginning, sequence].sorted() == [.beginning, sequence, sequence.next])
        #expect(max(sequence, .beginning) == sequence && min(sequence, .end) == sequence)
        #expect(Set([sequence, sequence.previous.next]).count == 1)
    }

    @Test func aDifferenceIsACount() {
        #expect(SequenceNumber(12) - SequenceNumber(5) == 7)
        #expect(SequenceNumber(5) - SequenceNumber(12) == -7)
        #expect(SequenceNumber.beginning.next - .beginning == 1)
        #expect(SequenceNumber.end - .beginning == .max)
    }

    @Test func itIsCodedAsTheBareInteger() throws {
        let kept = Kept(
            sequence: SequenceNumber(48_213), other: .end, heads: ["a": .beginning, "b": SequenceNumber(3)],
            windows: [[SequenceNumber(1), SequenceNumber(2)]])
        let value: Value = [
            "sequence": 48_213, "other": .integer(.max), "heads": ["a": 0, "b": 3], "windows": [[1, 2]],
        ]
        #expect(Value(kept) == value)
        #expect(try value.decode(Kept.self) == kept)
        #expect(Value(SequenceNumber(7)) == 7)
        #expect(Value(["a": SequenceNumber(7)]) == ["a": 7])
        // As in JSON, where an integer may be written with a zero fraction.
        #expect(try Value(json: Value(kept).json().utf8).decode(Kept.self) == kept)
        #expect(Value.number(7).read(SequenceNumber.self) == SequenceNumber(7))
    }

    @Test(arguments: ["7", .null, .number(7.5), [7], ["value": 7]] as [Value])
    func nothingElseIsOne(_ value: Value) {
        #expect(value.read(SequenceNumber.self) == nil)
    }

    /// Its text is used in keys, logs and messages for people.
    @Test func itsTextIsTheInteger() {
        #expect("\(SequenceNumber(1_795_192_496_137))" == "1795192496137")
    }
}
