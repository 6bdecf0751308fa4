import Figures
import HealthGenerator
import HealthModel
import Inspection
import Testing

/// Our own figures of made-up years, as someone sees them who runs.
@Suite struct PlausibleLifeTests {
    static let seeds: [UInt64] = [1, 2, 11]
    static let lives = seeds.map { seed in Result { try Year(seed) } }

    /// A made-up year with its figures by day.
    struct Year: Sendable {
        let life: GeneratedLife
        let figures: [[String: Value]]

        init(_ seed: UInt64) throws {
            life = try GeneratedLife(.init(days: 365, seed: seed))
            let life = life
            figures = try life.days.indices.map { try life.figures($0) }
        }

        func numbers(_ figure: (([String: Value]) -> Double?)) -> [Double] { figures.compactMap(figure) }
    }

    private func year(_ seed: UInt64) throws -> Year {
        try Self.lives[#require(Self.seeds.firstIndex(of: seed))].get()
    }

    private func mean(_ numbers: [Double]) -> Double { numbers.reduce(0, +) / Double(max(1, numbers.count)) }

    @Test(arguments: seeds) func ringsAgreeWithOurFigures(_ seed: UInt64) throws {
        let year = try year(seed)
        var rings = RingComparison()
        for (day, figures) in zip(year.life.days, year.figures) {
            rings.add(day, ours: RingComparison.ourFigures(of: .object(figures)), apples: year.life.rings[day])
        }
        #expect(rings.compared == 365 && rings.equal == 365, "\(rings.differences.prefix(5))")
        for figure in ["activeEnergyKilocalories", "exerciseMinutes", "standHours"] {
            #expect(rings.byFigure[figure]?.compared ?? 0 >= 200, "\(figure)")
        }
    }

    /// With a number of records given, the same holds for the fewer or more that there are.
    @Test(arguments: [6000, 60_000]) func ringsAgreeAtAnyDensity(_ records: Int) throws {
        let life = try GeneratedLife(.init(days: 20, seed: 4, records: records))
        var rings = RingComparison()
        for (index, day) in life.days.enumerated() {
            let figures = Value.object(try life.figures(index))
            rings.add(day, ours: RingComparison.ourFigures(of: figures), apples: life.rings[day])
        }
        #expect(rings.compared == 20 && rings.equal == 20, "\(rings.differences.prefix(5))")
    }

    @Test(arguments: seeds) func daysVaryWithinWhatPeopleDo(_ seed: UInt64) throws {
        let year = try year(seed)
        func check(_ name: String, _ allowed: ClosedRange<Double>, mean usual: ClosedRange<Double>, _ numbers: [Double])
        {
            #expect(numbers.count >= 300, "\(name)")
            let (low, high) = (numbers.min() ?? .nan, numbers.max() ?? .nan)
            #expect(allowed.contains(low) && allowed.contains(high), "\(name) from \(low) to \(high)")
            #expect(usual.contains(mean(numbers)), "\(name) \(mean(numbers))")
        }
        func number(_ name: String) -> [Double] { year.numbers { $0[name]?.double } }
        check("steps", 700...35_000, mean: 5000...14_000, number("steps"))
        check("active energy", 150...2500, mean: 300...1000, number("activeEnergyKilocalories"))
        check("basal energy", 1000...2400, mean: 1200...2100, number("basalEnergyKilocalories"))
        check("stand hours", 3...18, mean: 9...16, number("standHours"))
        check("resting", 42...80, mean: 48...70, year.numbers { $0["heartRate"]?["resting"].double })
        check("variability", 10...130, mean: 20...90, number("hrvSDNNMilliseconds"))
        check("asleep", 120...620, mean: 380...500, year.numbers { $0["sleep"]?["asleepMinutes"].double })
        check(
            "deep", 0.05...0.35, mean: 0.1...0.22,
            year.numbers { $0["sleep"].flatMap { $0["deepMinutes"].double.part(of: $0["asleepMinutes"].double) } })
        check(
            "REM", 0.05...0.4, mean: 0.15...0.3,
            year.numbers { $0["sleep"].flatMap { $0["remMinutes"].double.part(of: $0["asleepMinutes"].double) } })
        let exercise = number("exerciseMinutes")
        #expect(Set(exercise).count > 40 && (15...90).contains(exercise.reduce(0, +) / 365))
        #expect((0.4...0.75).contains(Double(year.figures.count { $0["workouts"]?.array?.isEmpty == false }) / 365))
        // People sleep in on Saturdays and Sundays.
        func wakes(_ isWeekend: Bool) -> [Double] {
            zip(year.life.days, year.figures).compactMap { day, figures in
                guard [0, 6].contains((day.number + 4) % 7) == isWeekend,
                    let end = figures["sleep"]?["end"].string.flatMap(InstantText.parse),
                    let midnight = year.life.zones.ranges(of: day).first?.lowerBound
                else { return nil }
                return (end - midnight).seconds / 3600
            }
        }
        #expect(mean(wakes(true)) > mean(wakes(false)) + 0.4)
    }

    /// Weight when it is measured, sleep once a night, and the others all day.
    @Test func typesChangeAsOftenAsTheyAreKnownTo() throws {
        let life = try year(1).life
        func mean(_ figure: ([GeneratedLife.Row], Instant) -> Int, _ type: String) throws -> Double {
            try self.mean(
                life.days.indices.map { index in
                    let day = try #require(life.zones.ranges(of: life.days[index]).first)
                    return Double(
                        figure(life.rows(type, on: index, from: day.lowerBound, to: day.upperBound), day.lowerBound))
                })
        }
        func hours(_ rows: [GeneratedLife.Row], _ midnight: Instant) -> Int {
            Set(rows.map { ($0.start - midnight.microseconds) / 3_600_000_000 }).count
        }
        #expect((0.5...1.2).contains(try mean({ rows, _ in rows.count }, "BodyMass")))
        #expect(life.rows.count { life.types[Int($0.type)].hasSuffix("IdentifierHeight") } == 1)
        for type in [
            "StepCount", "DistanceWalkingRunning", "BasalEnergyBurned", "ActiveEnergyBurned", "HeartRate",
        ] { #expect(try mean(hours, type) >= 10, "\(type)") }
        // No sleep begins between noon and six in the evening.
        let byDay = try mean(
            { rows, midnight in
                rows.count { (12..<18).contains(($0.start - midnight.microseconds) / 3_600_000_000) }
            }, "SleepAnalysis")
        #expect(byDay == 0)
        #expect(try mean({ rows, _ in min(1, rows.count) }, "SleepAnalysis") > 0.8)
    }

    @Test func peopleDiffer() throws {
        let means = try Self.seeds.map { seed in
            try [
                mean(year(seed).numbers { $0["heartRate"]?["resting"].double }),
                mean(year(seed).numbers { $0["steps"]?.double }),
            ]
        }
        #expect(Set(means.map { $0[0].rounded() }).count > 1 && Set(means.map { ($0[1] / 500).rounded() }).count > 1)
    }

    @Test(arguments: seeds) func workoutsAgreeWithThemselves(_ seed: UInt64) throws {
        let year = try year(seed)
        var seen: [String: Int] = [:]
        for (index, figures) in year.figures.enumerated() {
            for event in figures["events"]?.array ?? [] {
                let workout = try GeneratedWorkout(event, index, year.life)
                seen[workout.activity, default: 0] += 1
                try workout.check()
            }
        }
        #expect(["running", "walking", "cycling"].allSatisfy { seen[$0] ?? 0 > 5 }, "\(seen)")
    }
}

extension Optional<Double> {
    /// This number as a fraction of another.
    fileprivate func part(of whole: Double?) -> Double? { flatMap { part in whole.map { part / $0 } } }
}
