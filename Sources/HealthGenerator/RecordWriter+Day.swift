import HealthModel

extension RecordWriter {
    /// Writes a stream's records of one day, in order of their start.
    func write(_ count: Int, _ plan: DayPlan, zone: String, _ random: inout SeededRandom, _ text: inout ExportText) {
        guard count > 0 else { return }
        switch stream.shape {
        case .amounts(let rate, let wholeDay, let isWhole):
            amounts(count, plan, rate, wholeDay: wholeDay, isWhole: isWhole, &random, &text)
        case .moments(let mean, let deviation, let isWhole):
            moments(count, plan.dayStart, plan.dayEnd, mean, deviation, isWhole: isWhole, &random, &text)
        case .awakeMoments(let mean, let deviation):
            moments(count, plan.wake, plan.bed, mean, deviation, isWhole: false, &random, &text)
        case .asleepMoments(let mean, let deviation):
            moments(count, plan.asleep, plan.wake, mean, deviation, isWhole: false, &random, &text)
        case .bodyMass: bodyMass(count, plan, &random, &text)
        case .heartRate: heartRates(count, plan, &random, &text)
        case .variability: variability(count, plan, &random, &text)
        case .soundLevel: soundLevels(count, plan, &random, &text)
        case .exerciseMinutes: exerciseMinutes(count, plan, &random, &text)
        case .sleepStages: sleepStages(count, plan, zone, &random, &text)
        case .timeInBed: timeInBed(count, plan, zone, &random, &text)
        case .standHours: standHours(count, plan, &random, &text)
        case .mindfulness: mindfulness(count, plan, zone, &random, &text)
        }
    }

    /// Divides a span into `count` equal cells and returns one of them, shortened at each end by a random amount.
    private func cell(_ index: Int, _ count: Int, _ from: Int64, _ to: Int64, _ random: inout SeededRandom) -> (
        Int64, Int64
    ) {
        let width = Double(to - from) / Double(count)
        let start = Double(from) + width * (Double(index) + random.uniform(0, 0.3))
        let end = Double(from) + width * (Double(index) + random.uniform(0.6, 1))
        return (Int64(start), max(Int64(start), Int64(end)))
    }

    private func stored(_ end: Int64, _ random: inout SeededRandom) -> Int64 { end + 1 + Int64(random.index(600)) }

    private func amounts(
        _ count: Int, _ plan: DayPlan, _ rate: Double, wholeDay: Bool, isWhole: Bool, _ random: inout SeededRandom,
        _ text: inout ExportText
    ) {
        let from = wholeDay ? plan.dayStart : plan.wake
        let to = wholeDay ? plan.dayEnd : plan.bed
        let share = Double(to - from) / Double(count)
        for index in 0..<count {
            var (start, end) = cell(index, count, from, to, &random)
            var value = rate * share
            if wholeDay {
                // Resting energy never pauses: one interval follows another.
                start = from + (to - from) * Int64(index) / Int64(count)
                end = from + (to - from) * Int64(index + 1) / Int64(count)
                value *= random.uniform(0.9, 1.1)
            } else {
                // The shortened interval carries the amount of the whole cell.
                value *= plan.level * (plan.isInWorkout(start) ? 2.5 : 1) * random.uniform(0.3, 1.7)
            }
            if isWhole { value = max(1, value.rounded()) }
            write(start, end, stored: stored(end, &random), value, &text)
        }
    }

    private func moments(
        _ count: Int, _ from: Int64, _ to: Int64, _ mean: Double, _ deviation: Double, isWhole: Bool,
        _ random: inout SeededRandom, _ text: inout ExportText
    ) {
        for index in 0..<count {
            let (start, _) = cell(index, count, from, to, &random)
            var value = random.normal(mean, deviation)
            if isWhole { value = value.rounded() }
            if case .plain("%") = stream.unit { value = min(1, (value * 100).rounded() / 100) }
            write(start, start, stored: stored(start, &random), value, &text)
        }
    }

    private func bodyMass(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        for index in 0..<count {
            let start = plan.wake + 600 + Int64(index) * 3600 + Int64(random.index(600))
            // Slow variation over the year, rounded to the scale's resolution.
            let kilograms = 76 + Double((plan.day.number * 7) % 365) / 365 + random.normal(0, 0.3)
            write(start, start, stored: start + 2, (kilograms * 20).rounded() / 20, &text)
        }
    }

    private func heartRates(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        for index in 0..<count {
            let (start, _) = cell(index, count, plan.dayStart, plan.dayEnd, &random)
            let isActive = plan.isInWorkout(start)
            let mean: Double = isActive ? 142 : plan.isAsleep(start) ? 55 : 74
            let rate = max(40, random.normal(mean, isActive ? 9 : 6).rounded())
            let context = isActive ? 2 : plan.isAsleep(start) ? 1 : random.index(2)
            write(start, start, stored: stored(start, &random), rate, &text) { text in
                text.append("  <MetadataEntry key=\"HKMetadataKeyHeartRateMotionContext\" value=\"")
                text.append(integer: context)
                text.append("\"/>\n")
            }
        }
    }

    private func soundLevels(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        for index in 0..<count {
            let (start, end) = cell(index, count, plan.wake, plan.bed, &random)
            write(start, end, stored: stored(end, &random), random.normal(68, 6), &text)
        }
    }

    /// Writes intervals of one minute, starting with those in the workout.
    private func exerciseMinutes(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText)
    {
        let from = plan.workout?.start ?? plan.wake + 3600
        let to = max(plan.bed, from + Int64(count) * 60)
        let step = plan.workout == nil ? max(60, (to - from) / Int64(count)) : 60
        for index in 0..<count {
            let start = from + Int64(index) * step
            write(start, start + 60, stored: stored(start + 60, &random), 1, &text)
        }
    }
}
