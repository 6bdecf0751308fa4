import HealthModel

/// A page of samples like those that two devices produce in a day: several types, ids in time order, units, and numbers
/// of all sizes.
enum MadePage {
    static func page(rows: Int) -> SamplePage {
        var page = SamplePage()
        page.types = ["HeartRate", "StepCount", "ActiveEnergyBurned", "BasalEnergyBurned", "DistanceWalkingRunning"]
            .map { "HKQuantityTypeIdentifier" + $0 }
        page.units = ["count/min", "count", "kcal", "kcal", "km"]
        page.origins = ["Watch", "iPhone"].map {
            Origin(
                sourceName: "Robin’s \($0)", sourceVersion: "11.3.1", productType: "\($0)6,2",
                device: "name:\($0), manufacturer:Apple Inc., model:\($0), hardware:\($0)6,2, software:11.3.1")
        }
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func random() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        var start: Int64 = 1_743_800_000_000_000
        for row in 0..<rows {
            start += Int64(random() % 60_000_000)
            let type = Int32(random() % 5)
            page.ids.append(SampleID(high: UInt64(start / 1000) << 16 | random() & 0xFFFF, low: random()))
            page.sequence.append(1_795_192_496_137 + Int64(row))
            page.type.append(type)
            page.start.append(start)
            page.end.append(type == 0 ? start : start + Int64(random() % 300_000_000))
            page.value.append(Double(random() % 200_000) / 1000)
            page.origin.append(Int32(random() % 2))
            page.flags.append([])
            page.unit.append(type)
        }
        return page
    }
}
