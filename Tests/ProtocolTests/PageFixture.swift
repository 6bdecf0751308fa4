import HealthModel
import Protocol
import TestSupport

/// Made-up pages like those that the observer sends.
enum PageFixture {
    /// A page with every column, or only those of a slice for figures.
    static func samples(_ count: Int, isFull: Bool, seed: UInt64 = 1) -> SamplePage {
        var random = SeededRandom(seed: seed)
        var page = SamplePage()
        page.types = ["HKQuantityTypeIdentifierStepCount", "HKQuantityTypeIdentifierHeartRate"]
        page.origins = [
            Origin(sourceName: "Phone", sourceVersion: "17.4", productType: "iPhone15,2", device: ""),
            Origin(sourceName: "Watch", sourceVersion: "10.4", productType: "Watch6,7", device: "Watch, Sport Band"),
        ]
        if isFull, count > 0 { page.units = ["count", "count/min"] }
        var start: Instant = 1_735_689_600_000_000
        for row in 0..<count {
            start += .seconds(Int64.random(in: 1...600, using: &random))
            page.ids.append(SampleID(high: random.next(), low: random.next()))
            page.sequence.append(1_735_689_600_000 + Int64(row))
            page.type.append(Int32(row % 2))
            page.start.append(start.microseconds)
            page.end.append((start + .seconds(60)).microseconds)
            page.value.append(Double(Int.random(in: 1...4000, using: &random)) / 8)
            page.origin.append(Int32(row / 3 % 2))
            page.flags.append(row % 50 == 0 ? .deleted : [])
            guard isFull else { continue }
            page.unit.append(Int32(row % 2))
            page.created.append((start + .seconds(5)).flooredSecond)
            page.metadata.append(row % 4 == 0 ? #"{"HKMetadataKeyHeartRateMotionContext":"1"}"# : "")
            page.payload.appendEmpty()
            page.healthKitUUID.append(row % 5 == 4 ? nil : SampleID(high: random.next(), low: random.next()))
        }
        return page
    }

    /// A whole answer, in the form of a message's body.
    static func body(_ count: Int, isFull: Bool, seed: UInt64 = 1) -> Value {
        [
            "id": 7, "attempt": 0, "producer": "observer", "part": 0, "last": true, "from": 0, "through": 12,
            "head": ["store": "s", "generation": "g", "sequence": 12], "users": ["me"],
            "user": .column(.int32(Array(repeating: 0, count: count))),
            "samples": samples(count, isFull: isFull, seed: seed).wireValue,
        ]
    }
}

extension SamplePage {
    /// Whether two pages have the same content, column by column.
    func holdsSame(as other: SamplePage) -> Bool {
        types == other.types && units == other.units && origins == other.origins && ids == other.ids
            && sequence == other.sequence && type == other.type && start == other.start && end == other.end
            && value.map(\.bitPattern) == other.value.map(\.bitPattern) && origin == other.origin
            && flags == other.flags && unit == other.unit && created == other.created && metadata == other.metadata
            && payload == other.payload && healthKitUUID == other.healthKitUUID
    }
}
