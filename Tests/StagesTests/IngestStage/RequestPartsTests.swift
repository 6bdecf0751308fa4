import HealthModel
import HealthPush
import IngestStage
import Protocol
import TestSupport
import Testing

/// How a request is split into messages.
struct RequestPartsTests {
    private func batch(_ rows: Int, metadata: (Int) -> String = { _ in "" }, unit: (Int) -> String = { _ in "count" })
        -> RecordBatch
    {
        Record.batch(
            (0..<rows).map {
                Record(
                    type: "HKQuantityTypeIdentifierStepCount", source: "Watch \($0 % 7)",
                    start: Instant(seconds: Int64(1_743_000_000 + $0)), value: Double($0), unit: unit($0),
                    metadata: metadata($0))
            })
    }

    private func sizes(_ parts: [RequestParts.Content]) -> [Int] {
        parts.map { content in
            var part = IngestPart(id: "id", number: 0, user: "me", device: "phone", way: "/v1/samples")
            part.records = content.records
            part.deleted = content.deleted
            part.quarantined = content.quarantined
            return CBOREncoder.encode(part.body).count
        }
    }

    @Test(arguments: [0, 1, 2048, 2049, 4096, 10_000]) func everyRowIsInOnePart(_ rows: Int) throws {
        var changes = PushedChanges()
        changes.records = batch(rows)
        changes.deleted = (0..<rows).map { SampleID(high: UInt64($0), low: 7) }
        changes.deletedItems = (0..<rows).map { Int64(rows + $0 + 1) }
        let parts = RequestParts(changes).parts
        #expect(!parts.isEmpty && sizes(parts).allSatisfy { $0 < Message.maximumFrame })
        #expect(parts.flatMap(\.records.line) == (0..<rows).map { Int64($0 + 1) })
        #expect(parts.flatMap(\.records.value) == (0..<rows).map(Double.init))
        for part in parts {
            let records = part.records
            for row in 0..<records.count {
                let source = records.origins[Int(records.origin[row])].sourceName
                try #require(
                    source == "Watch \(Int(records.value[row]) % 7)" && records.units[Int(records.unit[row])] == "count"
                )
            }
        }
        #expect(parts.flatMap(\.deleted) == changes.deleted && parts.flatMap(\.deletedItems) == changes.deletedItems)
    }

    @Test func whatFitsIntoOnePartIsNotCopied() throws {
        var changes = PushedChanges()
        changes.records = batch(2048, metadata: { "{\"x\": \($0)}" })
        changes.deleted = [SampleID(high: 1, low: 7)]
        changes.deletedItems = [2049]
        let parts = RequestParts(changes).parts
        try #require(parts.count == 2)
        let (whole, part) = (changes.records, parts[1].records)
        #expect(Self.place(whole.start) == Self.place(part.start) && Self.place(whole.type) == Self.place(part.type))
        #expect(Self.place(whole.value) == Self.place(part.value) && Self.place(whole.line) == Self.place(part.line))
        #expect(Self.place(whole.metadata.bytes) == Self.place(part.metadata.bytes))
        #expect(Self.place(whole.metadata.ends) == Self.place(part.metadata.ends))
        #expect(Self.place(changes.deleted) == Self.place(parts[0].deleted))
        // A name that no row uses isn't stored, so it doesn't travel.
        changes.records.units.insert("furlong", at: 0)
        changes.records.unit = changes.records.unit.map { $0 + 1 }
        let last = try #require(RequestParts(changes).parts.last).records
        #expect(last.units == ["count"] && last.unit == whole.unit)
        #expect(Self.place(whole.value) == Self.place(last.value))
    }

    /// Where an array's elements are in memory.
    private static func place<Element>(_ array: [Element]) -> UnsafePointer<Element>? {
        array.withUnsafeBufferPointer { $0.baseAddress }
    }

    /// Names count toward the size too, since there may be one for each row.
    @Test func largeTextsMakeMorePartsAndTheLargestAreKeptApart() {
        var changes = PushedChanges()
        changes.records = batch(
            300,
            metadata: { "{\"x\": \"\(String(repeating: "y", count: $0 == 100 ? 700_000 : 9_000))\"}" })
        let parts = RequestParts(changes).parts
        #expect(parts.count > 3 && sizes(parts).allSatisfy { $0 < Message.maximumFrame })
        #expect(parts.flatMap(\.records.line) == (1...300).filter { $0 != 101 })
        #expect(parts.flatMap(\.quarantined).map(\.line) == [101])
        changes.records = batch(4000, unit: { "\($0)" + String(repeating: "u", count: 195) })
        let named = RequestParts(changes).parts
        #expect(sizes(named).allSatisfy { $0 < Message.maximumFrame })
        #expect(named.flatMap(\.records.line) == (1...4000).map(Int64.init))
    }

    @Test func whatIsKeptApartIsCutToo() {
        var changes = PushedChanges()
        changes.quarantined = (1...2000).map {
            QuarantinedInput(line: $0, reason: "start isn't a date", raw: String(repeating: "é", count: 2000))
        }
        let parts = RequestParts(changes).parts
        #expect(parts.count > 8 && sizes(parts).allSatisfy { $0 < Message.maximumFrame })
        #expect(parts.flatMap(\.quarantined).map(\.line) == Array(1...2000))
    }
}
