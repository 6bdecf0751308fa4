import HealthModel

/// A row of a made page: all rows start at 2025-03-30T08:15:00Z, and those with `minutes` come last.
struct MadeSample {
    var type: String
    var unit: String
    var value: Double
    var minutes: Int64 = 0
    var flags: SampleFlags = []
    var payload = ""
}

func madePage(_ samples: [MadeSample], source: String = "Anna’s Watch") -> SamplePage {
    var page = SamplePage()
    page.origins = [Origin(sourceName: source)]
    for (row, sample) in samples.enumerated() {
        page.types.append(sample.type)
        page.units.append(sample.unit)
        page.ids.append(SampleID(high: 0x0195_E621_9C60_8ABC, low: 0x8DEF_0123_4567_8900 | UInt64(row)))
        page.sequence.append(Int64(row + 1))
        page.type.append(Int32(row))
        page.unit.append(Int32(row))
        page.start.append(1_743_322_500_000_000)
        page.end.append(1_743_322_500_000_000 + sample.minutes * 60_000_000)
        page.value.append(sample.value)
        page.origin.append(0)
        page.flags.append(sample.flags)
        page.created.append(0)
        page.healthKitUUID.append(nil)
        page.metadata.appendEmpty()
        page.payload.append(sample.payload)
    }
    return page
}
