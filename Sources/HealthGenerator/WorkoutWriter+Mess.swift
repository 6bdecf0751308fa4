import HealthModel

extension WorkoutWriter {
    /// The same workout, written by another app as well, once or twice, with its own idea of the distance; and a sport
    /// that no list of Apple's has. Nothing is written that was stored after `until`.
    /// - Returns: how many were written.
    func writeMess(_ plan: DayPlan, until: Int64, _ text: inout ExportText) -> Int {
        let mess = Mess.Day(person, plan.day)
        var written = 0
        func write(_ activity: String, _ start: Int64, _ end: Int64, _ distance: String?, _ meters: Double) {
            guard end + 60 <= until else { return }
            written += 1
            let source = RecordSource.runs.attributes(export)
            text.append(
                " <Workout workoutActivityType=\"HKWorkoutActivityType\(activity)\" duration=\"\(Double(end - start) / 60)\""
            )
            text.append(" durationUnit=\"min\"\(source)")
            text.append(stored: end + 60, from: start, to: end)
            guard let distance else { return text.append("/>\n") }
            text.append(">\n")
            let unit = PrintedUnit.of(.distance, export.system)
            statistic(distance, start, end, [("sum", meters / unit.canonical)], unit.name, &text)
            text.append(" </Workout>\n")
        }
        if let workout = plan.workout, let meters = WorkoutTrace(plan, person)?.meters.last {
            let names = Self.names(workout.activity)
            for copy in 0..<mess.copies {
                let end = workout.end + 4 + Int64(copy) * 30
                write(names.activity, workout.start + 2, end, names.distance, meters * (1.012 + Double(copy) * 0.004))
            }
        }
        if mess.playsUnknownSport { write("LanternBoating", plan.bed - 7200, plan.bed - 5400, nil, 0) }
        return written
    }
}
