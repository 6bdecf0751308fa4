import HealthModel

/// Samples of one type, a minute apart.
func madePage(
    _ numbers: Range<Int>, version: Int64 = 1, flags: SampleFlags = [], value: Double = 60,
    from second: Int64 = 1_500_000_000,
    user: String = "me", source: String = "Anna’s Watch", metadata: String = "", payload: String = ""
) -> SamplePage {
    var page = SamplePage()
    page.types = ["HKQuantityTypeIdentifierHeartRate"]
    page.units = ["count/min"]
    page.origins = [Origin(sourceName: source)]
    let prefix = SampleKeyPrefix(user: user, type: page.types[0], sourceName: source)
    for number in numbers {
        let start = second + Int64(number) * 60
        page.ids.append(SampleID(prefix, startSecond: start, endSecond: start + 5, ordinal: 0))
        page.sequence.append(version)
        page.type.append(0)
        page.start.append(start * 1_000_000)
        page.end.append((start + 5) * 1_000_000)
        page.value.append(value)
        page.origin.append(0)
        page.unit.append(0)
        page.flags.append(flags)
        page.created.append(0)
        page.healthKitUUID.append(nil)
        page.metadata.append(metadata)
        page.payload.append(payload)
    }
    return page
}
