import HealthModel
import HealthStatistics
import TestSupport
import Testing

/// Made-up nights of which the truth is known: how far the rule, the union, and the first source alone are from it.
@Suite struct SleepTruthTests {
    /// Minutes, as if a night began at 0; what the person really did.
    private struct Truth {
        var asleep: Range<Int64>
        var awake: [Range<Int64>] = []
        var minutes: Int { Int(asleep.count) - Set(awake.joined()).count }

        init(_ random: inout SeededRandom) {
            let start = Int64.random(in: 270...390, using: &random)
            asleep = start..<start + .random(in: 330...540, using: &random)
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let from = Int64.random(in: asleep.lowerBound..<asleep.upperBound - 10, using: &random)
                awake.append(from..<min(asleep.upperBound, from + .random(in: 2...15, using: &random)))
            }
        }
    }

    /// A device that finds sleep `early` minutes before and after it is there, give or take `error`, and each time awake
    /// with a probability. Silent for a minute here and there.
    private static func device(
        _ name: String, _ truth: Truth, early: Int64, error: Int64, finds: Double, silences: Int, stage: Int,
        _ random: inout SeededRandom
    ) -> [SleepGrid.Sample] {
        func shift(_ random: inout SeededRandom) -> Int64 { early + .random(in: -error...error, using: &random) }
        var minutes: [Int64: Int] = [:]
        let (start, end) = (truth.asleep.lowerBound - shift(&random), truth.asleep.upperBound + shift(&random))
        for at in start..<end { minutes[at] = stage }
        for awake in truth.awake where Double.random(in: 0..<1, using: &random) < finds {
            for at in awake where minutes[at] != nil { minutes[at] = 2 }
        }
        for _ in 0..<silences { minutes[.random(in: truth.asleep, using: &random)] = nil }
        return runs(minutes, name)
    }

    private static func runs(_ minutes: [Int64: Int], _ name: String) -> [SleepGrid.Sample] {
        var found: [SleepGrid.Sample] = []
        for (at, value) in minutes.sorted(by: { $0.key < $1.key }) {
            if let last = found.last, last.end == at, last.value == value {
                found[found.count - 1].end = at + 1
            } else {
                found.append(.init(start: at, end: at + 1, value: value, source: name))
            }
        }
        return found
    }

    private static func watch(_ truth: Truth, _ random: inout SeededRandom) -> [SleepGrid.Sample] {
        device("Watch", truth, early: 0, error: 10, finds: 0.9, silences: 6, stage: 3, &random)
    }

    private static func ring(_ truth: Truth, _ random: inout SeededRandom) -> [SleepGrid.Sample] {
        device("Ring", truth, early: 12, error: 20, finds: 0.5, silences: 0, stage: 1, &random)
    }

    /// From when the person meant to sleep until they meant to get up.
    private static func schedule(_ truth: Truth, _ random: inout SeededRandom) -> [SleepGrid.Sample] {
        let start = truth.asleep.lowerBound - .random(in: 0...110, using: &random)
        let end = truth.asleep.upperBound + .random(in: 0...45, using: &random)
        return [.init(start: start, end: end, value: 1, source: "iPhone")]
    }

    private static func cut(
        _ samples: [SleepGrid.Sample], outside range: Range<Int64>
    ) -> [SleepGrid.Sample] {
        samples.compactMap { sample in
            let time = (sample.start..<sample.end).clamped(to: range)
            return time.isEmpty
                ? nil : .init(start: time.lowerBound, end: time.upperBound, value: sample.value, source: sample.source)
        }
    }

    enum Kind: String, CaseIterable {
        case alone, ring, schedule, died, late, hole, diedWithSchedule, inBedOnly
    }

    private static func night(_ kind: Kind, _ truth: Truth, _ random: inout SeededRandom) -> [SleepGrid.Sample] {
        let worn = watch(truth, &random)
        let (from, to) = (truth.asleep.lowerBound, truth.asleep.upperBound)
        switch kind {
        case .alone: return worn
        case .ring: return worn + ring(truth, &random)
        case .schedule: return worn + schedule(truth, &random)
        case .inBedOnly:
            return worn + [.init(start: from - 30, end: to + 20, value: 0, source: "iPhone")]
        case .died, .diedWithSchedule:
            let end = Int64.random(in: from + 30..<to - 30, using: &random)
            let other = kind == .died ? ring(truth, &random) : schedule(truth, &random)
            return cut(worn, outside: 0..<end) + other
        case .late:
            let start = Int64.random(in: from + 30..<to - 60, using: &random)
            return cut(worn, outside: start..<2000) + ring(truth, &random)
        case .hole:
            let start = Int64.random(in: from + 30..<to - 150, using: &random)
            let end = start + .random(in: 20..<120, using: &random)
            return cut(worn, outside: 0..<start) + cut(worn, outside: end..<2000) + ring(truth, &random)
        }
    }

    /// The mean distance from the truth in minutes.
    private static func errors(_ kind: Kind) -> (one: Double, union: Double, first: Double, rule: Double) {
        var random = SeededRandom(seed: 4)
        var sums: (one: Int, union: Int, first: Int, rule: Double) = (0, 0, 0, 0)
        let nights = 150
        for _ in 0..<nights {
            let truth = Truth(&random)
            let grid = SleepGrid(samples: night(kind, truth, &random))
            let main = grid.sessions(gap: 60).max { $0.union < $1.union } ?? grid
            let page = grid.page()
            let sessions = SleepAnalysis.sessions(page, rows: page.rows(of: SleepGrid.type))
            let asleep = SleepAnalysis.main(of: sessions).flatMap { sessions[$0].asleep } ?? 0
            sums.one += abs(main.ofOneSource - truth.minutes)
            sums.union += abs(main.union - truth.minutes)
            sums.first += abs(main.firstWord - truth.minutes)
            sums.rule += abs(asleep - Double(truth.minutes))
        }
        func mean(_ sum: Int) -> Double { Double(sum) / Double(nights) }
        return (mean(sums.one), mean(sums.union), mean(sums.first), sums.rule / Double(nights))
    }

    /// A watch that was worn all night decides: another source's wider edges don't change the figure.
    @Test func aWholeNightStaysTheWatchs() {
        for kind in [Kind.alone, .inBedOnly] {
            let errors = Self.errors(kind)
            #expect(errors.rule == errors.one && errors.rule == errors.union, "\(kind)")
        }
        let ring = Self.errors(.ring)
        #expect(ring.rule <= ring.one && ring.rule < ring.union / 3 && ring.rule < ring.first / 3)
    }

    @Test(arguments: [Kind.died, .late, .hole]) func whatTheWatchLacksComesFromAnother(kind: Kind) {
        let errors = Self.errors(kind)
        #expect(errors.rule < errors.one / 5 && errors.rule < errors.union * 0.7 && errors.rule < errors.first)
    }

    /// A phone's plan of a night isn't sleep. It is believed only where the watch knows nothing for over an hour.
    @Test func aPlanIsNoSleep() {
        let plan = Self.errors(.schedule)
        #expect(plan.one < plan.rule && plan.rule < plan.first * 0.7 && plan.rule < plan.union * 0.6)
        let died = Self.errors(.diedWithSchedule)
        #expect(died.rule < died.one / 2 && died.rule < died.union && died.rule < died.first)
    }
}
