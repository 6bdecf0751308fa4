import HealthModel

extension RecordWriter {
    /// Writes a stream's records of one day, in order of their start.
    /// - Parameter isCondensed: whether HealthKit has made one record of those of each stretch, in types of amounts.
    func write(
        _ count: Int, _ plan: DayPlan, zone: String, isCondensed: Bool = false, _ random: inout SeededRandom,
        _ text: inout ExportText
    ) {
        guard count > 0 else { return }
        switch stream.shape {
        case .amounts(let amount): amounts(count, plan, amount, isCondensed: isCondensed, &random, &text)
        case .moments(let vital): moments(count, plan.dayStart, plan.dayEnd, vital, plan, &random, &text)
        case .awakeMoments(let vital): moments(count, plan.wake, plan.bed, vital, plan, &random, &text)
        case .asleepMoments(let vital):
            moments(count, plan.asleep, plan.watchDied ?? plan.wake, vital, plan, &random, &text)
        case .walkingMoments(let vital): walkingMoments(count, plan, vital, &random, &text)
        case .bodyMass: bodyMass(count, plan, &random, &text)
        case .heartRate: heartRates(count, plan, &random, &text)
        case .variability: variability(count, plan, &random, &text)
        case .soundLevel: soundLevels(count, plan, &random, &text)
        case .exerciseMinutes: exerciseMinutes(count, plan, &random, &text)
        case .sleepStages: sleepStages(count, plan, zone, &random, &text)
        case .timeInBed: timeInBed(count, plan, zone, &random, &text)
        case .standHours: standHours(count, plan, &random, &text)
        case .mindfulness: mindfulness(count, plan, zone, &random, &text)
        case .messy(let shape): messy(shape, count, plan, zone, &random, &text)
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

    func stored(_ end: Int64, _ random: inout SeededRandom) -> Int64 { end + 1 + Int64(random.index(600)) }

    /// Calls `body` with each stretch that has some of the day's records, and their number.
    func eachStretch(_ count: Int, of plan: DayPlan, _ body: (Stretch, Int) -> Void) {
        let natural = stream.records(on: plan, person)
        guard natural > 0 else { return }
        var passed = 0
        for stretch in plan.stretches {
            let before = count * passed / natural
            passed += stream.records(in: stretch, of: plan)
            let own = count * passed / natural - before
            if own > 0 { body(stretch, own) }
        }
    }

    private func moments(
        _ count: Int, _ from: Int64, _ to: Int64, _ vital: RecordStream.Vital, _ plan: DayPlan,
        _ random: inout SeededRandom, _ text: inout ExportText
    ) {
        for index in 0..<count {
            let (start, _) = cell(index, count, from, to, &random)
            let value: Double =
                switch vital {
                case .oxygen: min(1, (random.normal(0.967, 0.011) * 100).rounded() / 100)
                case .breaths: (random.normal(person.breaths, 0.9) * 2).rounded() / 2
                case .restingRate: plan.resting.rounded()
                default: random.normal(person.vo2Max, 0.4)
                }
            write(start, start, stored: stored(start, &random), value, &text)
        }
    }

    private func walkingMoments(
        _ count: Int, _ plan: DayPlan, _ vital: RecordStream.Vital, _ random: inout SeededRandom,
        _ text: inout ExportText
    ) {
        eachStretch(count, of: plan) { stretch, count in
            for index in 0..<count {
                let (start, end) = cell(index, count, stretch.start, stretch.end, &random)
                let speed = Double(stretch.speed) * random.normal(1, 0.03)
                let value = if case .stepLength = vital { person.stepLength(walking: speed) } else { speed }
                write(start, end, stored: stored(end, &random), value, &text)
            }
        }
    }

    private func bodyMass(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        let season = SeededRandom.drift(seed: person.seed, subject: 5007, day: plan.day.number / 6)
        for index in 0..<count {
            let start = plan.wake + 600 + Int64(index) * 3600 + Int64(random.index(600))
            // Slow variation over the year, rounded to the scale's resolution.
            let kilograms = person.massKilograms * (1 + 0.015 * season) + random.normal(0, 0.3)
            write(start, start, stored: start + 2, (kilograms * 20).rounded() / 20, &text)
        }
    }

    private func soundLevels(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        for index in 0..<count {
            let (start, end) = cell(index, count, plan.wake, plan.bed, &random)
            write(start, end, stored: stored(end, &random), random.normal(68, 6), &text)
        }
    }

    /// Writes intervals of one minute; if fewer are wanted than there are, some from all over the day.
    private func exerciseMinutes(_ count: Int, _ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText)
    {
        let minutes = plan.exerciseMinutes()
        for index in 0..<min(count, minutes.count) {
            let start = minutes[index * minutes.count / count]
            write(start, start + 60, stored: stored(start + 60, &random), 1, &text)
        }
    }
}
