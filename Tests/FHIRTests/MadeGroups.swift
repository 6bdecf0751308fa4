import DeliveryKit
import HealthModel

/// Heart rates a minute apart, in the given versions, with numbered ids.
func samples(
    _ versions: [Int64], ids: [UInt64]? = nil, deleted: Set<Int> = [], user: String = "me",
    type: String = "HKQuantityTypeIdentifierHeartRate", flags: SampleFlags = []
) -> DeliveryGroup {
    var page = SamplePage()
    page.types = [type]
    page.units = ["count/min"]
    page.origins = [Origin(sourceName: "Watch")]
    for (row, version) in versions.enumerated() {
        page.ids.append(SampleID(high: 0x0195_E621_9C60_8ABC, low: 0x8000_0000_0000_0000 | (ids?[row] ?? UInt64(row))))
        page.sequence.append(version)
        page.type.append(0)
        page.unit.append(0)
        page.start.append(1_743_322_500_000_000 + Int64(row) * 60_000_000)
        page.end.append(1_743_322_500_000_000 + Int64(row) * 60_000_000)
        page.value.append(60 + Double(row))
        page.origin.append(0)
        page.flags.append(deleted.contains(row) ? .deleted : flags)
        page.created.append(0)
        page.healthKitUUID.append(nil)
        page.metadata.appendEmpty()
        page.payload.appendEmpty()
    }
    return DeliveryGroup(
        metric: DeliveryMetric(family: "heart-rate"), user: user, content: .samples(page),
        batch: DeliveryBatch(count: page.count))
}

func days(_ steps: [(date: String, version: Int64, steps: Int64?)]) -> DeliveryGroup {
    let documents = steps.map { day in
        DeliveryGroup.Document(
            id: day.date, version: day.version,
            body: day.steps.map { ["date": .string(day.date), "final": true, "steps": .integer($0)] })
    }
    return DeliveryGroup(
        metric: .daily, user: "me", content: .days(documents), batch: DeliveryBatch(count: documents.count))
}
