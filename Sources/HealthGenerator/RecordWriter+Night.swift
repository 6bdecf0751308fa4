import HealthModel

extension RecordWriter {
    /// The stages of the night that ends on this day, one after the other.
    func sleepStages(
        _ count: Int, _ plan: DayPlan, _ zone: String, _ random: inout SeededRandom, _ text: inout ExportText
    ) {
        let night = Hypnogram(plan, person)
        var start = night.start
        for (stage, end) in night.thinned(to: count) {
            let name: StaticString =
                switch stage {
                case .core: "HKCategoryValueSleepAnalysisAsleepCore"
                case .deep: "HKCategoryValueSleepAnalysisAsleepDeep"
                case .rem: "HKCategoryValueSleepAnalysisAsleepREM"
                case .awake: "HKCategoryValueSleepAnalysisAwake"
                }
            write(start, end, stored: plan.wake + 300, name: name, zone: zone, &text)
            start = end
        }
    }

    /// The phone's time in bed, which begins before and ends after sleep.
    func timeInBed(
        _ count: Int, _ plan: DayPlan, _ zone: String, _ random: inout SeededRandom, _ text: inout ExportText
    ) {
        let end = plan.wake + Int64(random.index(900))
        let from = plan.asleep - Int64(random.index(300))
        for index in 0..<count {
            let start = from + (end - from) * Int64(index) / Int64(count)
            let stop = from + (end - from) * Int64(index + 1) / Int64(count)
            write(start, stop, stored: end + 60, name: "HKCategoryValueSleepAnalysisInBed", zone: zone, &text)
        }
    }

    /// Writes whole hours of the local day, from the one in which the person wakes up: `Stood` or `Idle`.
    func standHours(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        for (start, hasStood) in plan.standHours().prefix(count) {
            let stood: StaticString = "HKCategoryValueAppleStandHourStood"
            let idle: StaticString = "HKCategoryValueAppleStandHourIdle"
            write(start, start + 3600, stored: start + 3900, name: hasStood ? stood : idle, counts: hasStood, &text)
        }
    }

    func mindfulness(
        _ count: Int, _ plan: DayPlan, _ zone: String, _ random: inout SeededRandom, _ text: inout ExportText
    ) {
        for index in 0..<count {
            let start = plan.wake + 1800 + Int64(index) * 3600 + Int64(random.index(1200))
            let end = start + Int64(random.uniform(180, 1200))
            write(start, end, stored: end + 1, name: "HKCategoryValueNotApplicable", zone: zone, &text)
        }
    }

    /// Writes one-minute samples with their beats; beat times follow the wall clock, whatever offset the file's dates
    /// have.
    func variability(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        for index in 0..<count {
            let width = (plan.dayEnd - plan.dayStart) / Int64(count)
            let start = plan.dayStart + width * Int64(index) + Int64(random.uniform(0, 0.9) * Double(width))
            let spread = max(
                12, person.variability * plan.recovery * random.normal(isNight(start, plan) ? 1.15 : 0.9, 0.16))
            let beat = 60 / (plan.resting + (isNight(start, plan) ? 0 : 11))
            write(start, start + 60, stored: start + 70, (spread * 10_000).rounded() / 10_000, &text) { text in
                text.append("  <HeartRateVariabilityMetadataList>\n")
                var clock = Double(86_400 - (plan.dayEnd - start))
                for _ in 0..<20 {
                    let interval = max(0.4, random.normal(beat, spread / 1000))
                    clock += interval
                    text.append("   <InstantaneousBeatsPerMinute bpm=\"")
                    text.append(integer: Int((60 / interval).rounded()))
                    text.append("\" time=\"")
                    Self.append(clock: clock, &text)
                    text.append("\"/>\n")
                }
                text.append("  </HeartRateVariabilityMetadataList>\n")
            }
        }
    }

    private func isNight(_ second: Int64, _ plan: DayPlan) -> Bool { second < plan.wake || second >= plan.bed }

    /// A time such as `6:14:48.94 PM`, with the narrow no-break space of recent systems.
    private static func append(clock: Double, _ text: inout ExportText) {
        let hundredths = (Int((clock * 100).rounded()) + 8_640_000) % 8_640_000
        let hour = hundredths / 360_000
        text.append(integer: hour % 12 == 0 ? 12 : hour % 12)
        text.append(":")
        text.appendTwo(hundredths / 6000 % 60)
        text.append(":")
        text.appendTwo(hundredths / 100 % 60)
        text.append(".")
        text.appendTwo(hundredths % 100)
        text.append(hour < 12 ? "\u{202F}AM" as StaticString : "\u{202F}PM")
    }
}
