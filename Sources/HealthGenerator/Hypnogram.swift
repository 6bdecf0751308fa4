import HealthModel

/// The stages of a night, in cycles of about an hour and a half: deep sleep comes early, REM late, and people wake up
/// for moments.
struct Hypnogram {
    enum Stage { case core, deep, rem, awake }

    /// Each stage and its end, in seconds since 1970; the first begins at `start`.
    private(set) var stages: [(stage: Stage, end: Int64)] = []
    let start: Int64

    init(_ plan: DayPlan, _ person: Person) {
        var random = SeededRandom(seed: person.seed, subject: 5006, day: plan.day.number)
        start = min(plan.asleep + Int64(random.uniform(300, 1500)), plan.wake - 3600)
        let depth = random.uniform(0.75, 1.25) * (0.6 + 0.4 * plan.recovery)
        var now = start
        var cycle = 0.0
        while now < plan.wake {
            let parts: [(Stage, Double)] = [
                (.core, random.uniform(11, 24)), (.deep, (36 - 12 * cycle) * depth * random.uniform(0.75, 1.2)),
                (.core, (11 + 9 * cycle) * random.uniform(0.75, 1.25)),
                (.rem, (8 + 7.5 * cycle) * random.uniform(0.7, 1.25)),
                (.awake, random.chance(0.5) ? random.uniform(1, 7) : 0),
            ]
            for (stage, minutes) in parts where now < plan.wake && minutes >= 1 {
                // Stages are scored in half minutes.
                let end = min(plan.wake, now + Int64(minutes * 2) * 30)
                if stages.last?.stage == stage { stages.removeLast() }
                stages.append((stage, end))
                now = end
            }
            cycle = min(4, cycle + 1)
        }
        guard let died = plan.watchDied else { return }
        stages.removeAll { $0.end > died }
    }

    /// The first `count` stages, spread over the whole night.
    func thinned(to count: Int) -> [(stage: Stage, end: Int64)] {
        guard count < stages.count, count > 0, let end = stages.last?.end else { return stages }
        let kept = stages.prefix(count)
        let length = Double((kept.last?.end ?? end) - start)
        return kept.map { ($0.stage, start + Int64(Double($0.end - start) * Double(end - start) / length)) }
    }
}
