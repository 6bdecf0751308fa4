import HealthModel

extension RecordWriter {
    func messy(
        _ shape: Mess.Shape, _ count: Int, _ plan: DayPlan, _ zone: String, _ random: inout SeededRandom,
        _ text: inout ExportText
    ) {
        let mess = Mess.Day(person, plan.day)
        for index in 0..<count {
            switch shape {
            case .daySum(let amount):
                // Sent again, it is the same sum, stored later.
                let stored = plan.dayEnd + mess.delay + Int64(index) * 7200
                write(plan.dayStart, plan.dayEnd, stored: stored, total(amount, plan) * 0.96, &text)
            case .noonSum(let amount):
                let noon = plan.dayEnd - 43_200
                write(noon, noon, stored: plan.dayEnd + mess.delay, total(amount, plan) * 1.05, &text)
            case .minuteRates: minuteRate(index, plan, &random, &text)
            case .night:
                let name: StaticString = "HKCategoryValueSleepAnalysisAsleepUnspecified"
                let end = plan.wake - Int64(random.uniform(0, 900))
                write(plan.asleep + 1200, end, stored: plan.wake + 1800, name: name, zone: zone, &text)
            case .runDistance: runDistance(index, count, plan, &text)
            case .eveningSymptom:
                let (start, end) = (plan.dayEnd - Int64(random.uniform(1800, 7200)), plan.dayEnd + 5400)
                write(start, end, stored: end + 60, name: "HKCategoryValueSeverityModerate", &text)
            case .unknownQuantity:
                let start = plan.wake + 7200
                write(start, start, stored: start + 5, random.normal(40, 5), &text)
            case .unknownCategory:
                let start = plan.wake + 7200
                write(start, start + 600, stored: start + 660, name: "HKCategoryValueWeatherSenseStrong", &text)
            }
        }
    }

    /// The average of a minute; the first of a workout is a single second of a strap that doesn't sit yet.
    private func minuteRate(_ index: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        guard let workout = plan.workout, let trace = WorkoutTrace(plan, person) else { return }
        let start = workout.start + Int64(index) * 60
        let isLoose = index == 0
        let rate = isLoose ? 171 : trace.rate(at: start + 30) + random.normal(0, 1)
        let end = start + (isLoose ? 1 : 60)
        write(start, end, stored: end + 2, rate.rounded(), &text)
    }

    private func runDistance(_ index: Int, _ count: Int, _ plan: DayPlan, _ text: inout ExportText) {
        guard let workout = plan.workout, let trace = WorkoutTrace(plan, person) else { return }
        let length = workout.end - workout.start
        let start = workout.start + 2 + length * Int64(index) / Int64(count)
        let end = min(workout.end, workout.start + 2 + length * Int64(index + 1) / Int64(count))
        let meters = trace.amount(trace.meters, at: end) - trace.amount(trace.meters, at: start)
        if meters > 0 { write(start, end, stored: workout.end + 40, meters * 1.02, &text) }
    }
}
