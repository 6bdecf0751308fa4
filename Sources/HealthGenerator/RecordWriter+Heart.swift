import HealthModel

extension RecordWriter {
    /// Writes the heart rate: by the trace of a workout, and by what the person does in the rest of the day.
    func heartRates(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        let trace = plan.workout == nil ? nil : WorkoutTrace(plan, person)
        eachStretch(count, of: plan) { stretch, count in
            let isMeasured = stretch.kind == .workout || stretch.kind == .pause
            for index in 0..<count {
                let cell = Double(stretch.length) / Double(count)
                let place = Double(index) + (isMeasured ? 0 : random.uniform(0.2, 0.8))
                let start = stretch.start + Int64(cell * place)
                let rate =
                    if isMeasured, let trace { trace.rate(at: start) } else {
                        max(38, rest(at: start, stretch, plan, trace, &random).rounded())
                    }
                let isActive = isMeasured || stretch.kind == .walking
                let context = isActive ? 2 : stretch.kind == .asleep ? 1 : random.index(2)
                // In a workout there is a measurement at each multiple of five seconds; they are stored soon after.
                write(start, start, stored: stored(start, &random), rate, &text) { text in
                    text.append("  <MetadataEntry key=\"HKMetadataKeyHeartRateMotionContext\" value=\"")
                    text.append(integer: context)
                    text.append("\"/>\n")
                }
            }
        }
    }

    /// The rate outside workouts, which is still raised for some time after one.
    private func rest(
        at second: Int64, _ stretch: Stretch, _ plan: DayPlan, _ trace: WorkoutTrace?, _ random: inout SeededRandom
    ) -> Double {
        let reserve = person.maximumRate - plan.resting
        switch stretch.kind {
        case .asleep, .unworn:
            // It falls until the early morning.
            let isEvening = second >= plan.bed
            let night = isEvening ? 28_800 : plan.wake - plan.asleep
            let part = Double(second - (isEvening ? plan.bed : plan.asleep)) / Double(max(1, night))
            let left = max(0, min(1, 1 - part))
            return plan.resting - 4.5 + 9 * left * left + random.normal(0, 1.8)
        case .walking:
            return plan.resting + reserve * (0.3 + 0.35 * (Double(stretch.speed) - 1.35)) + random.normal(0, 3)
        case .sitting, .about, .charging, .workout, .pause:
            var rate =
                plan.resting + (stretch.kind == .about ? 24 : 11) + random.normal(0, stretch.kind == .about ? 5 : 4)
            if let trace, let last = trace.heart.last, second >= trace.workout.end {
                let late = Double(second - trace.workout.end) / 240
                rate += max(0, last - rate) / (1 + late * late)
            }
            return rate
        }
    }
}
