import HealthModel

extension RecordWriter {
    /// Writes amounts over intervals that fill the stretches in which they arise, and that add up to what the stretch
    /// brings.
    func amounts(
        _ count: Int, _ plan: DayPlan, _ amount: RecordStream.Amount, isCondensed: Bool,
        _ random: inout SeededRandom, _ text: inout ExportText
    ) {
        let measured = stream.source == .watch ? Self.column(amount) : nil
        let trace = measured == nil ? nil : WorkoutTrace(plan, person)
        let isWhole = if case .plain = stream.unit { true } else { false }
        eachStretch(count, of: plan) { stretch, count in
            let count = isCondensed ? 1 : min(count, Int(stretch.length))
            let column = stretch.kind == .workout ? measured.flatMap { trace?[keyPath: $0] } : nil
            let base = column.flatMap { trace?.amount($0, at: stretch.start) } ?? 0
            var whole = perSecond(amount, stretch) * Double(stretch.length)
            if let column, let trace { whole = trace.amount(column, at: stretch.end) - base }
            if isWhole { whole = whole.rounded() }
            var (start, past) = (stretch.start, 0.0)
            for index in 1...count {
                let isLast = index == count
                let end = isLast ? stretch.end : stretch.start + stretch.length * Int64(index) / Int64(count)
                var sum = whole
                if !isLast {
                    if let column, let trace {
                        sum = trace.amount(column, at: end) - base
                    } else {
                        sum = whole * (Double(index) + random.uniform(-0.3, 0.3)) / Double(count)
                    }
                    if isWhole { sum = sum.rounded() }
                }
                let value = isWhole ? max(1, sum - past) : max(0, sum - past)
                write(start, end, stored: stored(end, &random), value, &text)
                (start, past) = (end, sum)
            }
        }
    }

    /// The column of a workout's own measurements that an amount follows from; nil if there is none.
    private static func column(_ amount: RecordStream.Amount) -> KeyPath<WorkoutTrace, [Double]>? {
        switch amount {
        case .steps: \.steps
        case .distance, .cycling: \.meters
        case .activeEnergy: \.kilocalories
        case .basalEnergy, .flights, .standing: nil
        }
    }

    /// The rate outside workouts, per second, in canonical units.
    private func perSecond(_ amount: RecordStream.Amount, _ stretch: Stretch) -> Double {
        /// Pottering about is a slow walk with many interruptions.
        let isWalking = stretch.kind == .walking
        let speed = isWalking ? Double(stretch.speed) : stretch.kind == .sitting || stretch.kind == .pause ? 0 : 0.42
        // A phone in a pocket misses some steps.
        let share = if case .phone = stream.source { 0.94 } else { 1.0 }
        return switch amount {
        case .steps: share * speed / (isWalking ? person.stepLength(walking: speed) : 0.3 * person.heightMeters)
        case .distance: share * speed
        case .cycling: 0
        case .activeEnergy:
            share * person.massKilograms * (speed * Person.cost(.walking) / 1000 + (speed > 0 ? 0.00008 : 0.00004))
        case .basalEnergy: person.restingEnergy
        case .flights: Double(stretch.climb) / Double(max(1, stretch.length))
        case .standing: 1.0 / 60
        }
    }
}

extension RecordWriter {
    /// What the whole day brings, of what a watch counts.
    func total(_ amount: RecordStream.Amount, _ plan: DayPlan) -> Double {
        var sum = 0.0
        for stretch in plan.stretches where stretch.kind != .asleep && stretch.kind != .unworn {
            if stretch.kind != .workout { sum += perSecond(amount, stretch) * Double(stretch.length) }
        }
        let trace = plan.workout?.activity == .cycling && amount != .activeEnergy ? nil : WorkoutTrace(plan, person)
        sum += Self.column(amount).flatMap { trace?[keyPath: $0].last } ?? 0
        let isWhole = if case .plain = stream.unit { true } else { false }
        return isWhole ? sum.rounded() : sum
    }
}
