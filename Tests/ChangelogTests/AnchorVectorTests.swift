import Changelog
import HealthModel
import Protocol
import TestSupport
import Testing

/// Compares anchors by type with the simplest possible model: a set of consumed rows.
@Suite struct AnchorVectorTests {
    static let types = ["a", "b", "c", "d"]

    private static func vector(_ random: inout SeededRandom, atMost most: SequenceNumber) -> AnchorVector {
        var exceptions: [String: SequenceNumber] = [:]
        for type in types.dropLast() where Int.random(in: 0..<3, using: &random) == 0 {
            exceptions[type] = SequenceNumber.random(in: 0...most, using: &random)
        }
        return AnchorVector(base: SequenceNumber.random(in: 0...most, using: &random), exceptions: exceptions)
    }

    @Test func advancingIsConsumingTheRowsUpToThere() {
        var random = SeededRandom(seed: 1)
        for round in 0..<2000 {
            // Each row has a random type.
            let rows = (1...30).map {
                (sequence: SequenceNumber($0), type: Self.types.randomElement(using: &random) ?? "a")
            }
            let before = Self.vector(&random, atMost: 30)
            let limit = Self.vector(&random, atMost: 30)
            let sequence = SequenceNumber.random(in: 0...30, using: &random)
            let after = before.advanced(to: sequence, within: limit)
            for row in rows {
                let consumed = row.sequence <= before[row.type]
                let fetched = row.sequence <= sequence && row.sequence <= limit[row.type]
                #expect(
                    (row.sequence <= after[row.type]) == (consumed || fetched),
                    "round \(round): row \(row) of \(before) → \(after)")
            }
            #expect(before.isBehind(limit) == (Self.types + ["other"]).contains { before[$0] < limit[$0] })
            #expect(!before.advanced(to: .end, within: limit).isBehind(limit))
            #expect(after.minimum == (Self.types + ["other"]).map { after[$0] }.min())
            #expect(after.maximum == (Self.types + ["other"]).map { after[$0] }.max())
            #expect(Value(after).read(AnchorVector.self) == after)
        }
    }

    @Test func equalExceptionsAreNone() {
        #expect(AnchorVector(base: 7, exceptions: ["a": 7]) == AnchorVector(base: 7))
        #expect(Value(AnchorVector(base: 7)) == 7)
    }

    @Test(arguments: ["text", ["types": [:]], .null, [1]] as [Value])
    func whatIsNoVectorIsRefused(_ value: Value) { #expect(value.read(AnchorVector.self) == nil) }
}
