import Configuration
import Figures
import Foundation
import HealthModel
import Inspection
import SleepStage
import Testing

/// A figure is explained by the rule that produced it: what `explain` shows adds up to what the handlers computed.
@Suite struct ExplainedDayTests {
    private static func explain(_ text: String, _ life: ExplainedLife) throws -> ExplainedDay {
        let metric = try ExplainedMetric(text, held: Set(life.page.types))
        let traits = ExplainedDay.traits(of: metric)
        return try ExplainedDay(
            metric, life.input(traits) { $0 == metric.type || traits.during.keys.contains($0) })
    }

    private static func isClose(_ a: Double, _ b: Double?) -> Bool {
        guard let b else { return abs(a) < 1e-9 }
        return abs(a - b) <= 1e-9 * max(1, abs(b))
    }

    private static func minutes(_ stretches: Value, _ stages: String...) -> Double {
        (stretches.array ?? []).reduce(0) { sum, stretch in
            guard let stage = stretch["stage"].string, stages.contains(stage),
                let start = stretch["start"].string.flatMap({ InstantText.parse($0) }),
                let end = stretch["end"].string.flatMap({ InstantText.parse($0) })
            else { return sum }
            return sum + (end - start).seconds / 60
        }
    }

    private static func sum(_ list: Value, _ member: String) -> Double {
        (list.array ?? []).reduce(0) { $0 + ($1[member].double ?? 0) }
    }

    /// All named figures, and types that are grouped under `other`, on made-up days. One day is 23 hours long, and some
    /// end in a different zone.
    @Test func everyExplanationAddsUpToItsFigure() throws {
        var explained: [String: Int] = [:]
        var lived: Set<String> = []
        var continued = 0
        for seed in 0..<120 as Range<UInt64> {
            let life = try ExplainedLife(seed: seed)
            let summary = try life.summary()
            lived.formUnion(life.page.types)
            let others = [
                "DistanceCycling", "RespiratoryRate", "EnvironmentalAudioExposure", "MindfulSession", "Headache",
            ]
            // A type that only the store knows.
            let unknown = life.page.types.filter { $0.hasSuffix("NobodyKnows") }
            for name in ExplainedMetric.names + others + unknown {
                let day = try Self.explain(name, life)
                let figure = day.metric.figure(in: summary)
                #expect(day.result == figure, "\(name), seed \(seed)")
                #expect(day.agrees(with: summary), "\(name), seed \(seed)")
                guard let figure else { continue }
                explained[name, default: 0] += 1
                if day.metric.kind == .count, figure == 0 { continued += 1 }
                Self.check(day, figure, summary, "\(name), seed \(seed)")
            }
        }
        // Nearly all types have samples in these lives.
        let names = try ExplainedMetric.names.filter { lived.contains(try ExplainedMetric($0).type) }
        #expect(names.count >= 18)
        for name in names { #expect(explained[name] ?? 0 >= 20, "\(name)") }
        // On some days a sample only continues.
        #expect(continued > 0)
    }

    /// People see a percentage; what programs read stays a fraction.
    @Test func aFractionIsExplainedInPercent() throws {
        var headlines: Set<String> = []
        for seed in 0..<40 as Range<UInt64> {
            let day = try Self.explain("body-fat", ExplainedLife(seed: seed))
            guard let result = day.result else { continue }
            let headline = try #require(day.headline)
            headlines.insert(headline)
            #expect(headline.hasSuffix(" %") && (0.1...0.2).contains(result))
            let shown = try #require(Double(headline.dropLast(2)))
            #expect(abs(shown - result * 100) <= 0.006)
        }
        #expect(headlines.count > 5)
    }

    private static func check(_ day: ExplainedDay, _ figure: Double, _ summary: Value, _ comment: Comment) {
        let members = Value.object(day.members)
        switch day.metric.kind {
        case .total:
            for part in ["intervals", "sources", "hours"] {
                #expect(isClose(sum(members[part], "amount"), figure), comment)
            }
        case .average:
            let sources = members["sources"].array ?? []
            #expect(isClose(sum(members["sources"], "weight"), 1), comment)
            #expect(sum(members["sources"], "count") == Double(members["samples"].array?.count ?? 0), comment)
            // Sound levels are averaged as energy.
            guard !day.metric.type.hasSuffix("AudioExposure") else { return }
            let mean = sources.reduce(0) { $0 + ($1["average"].double ?? 0) * ($1["weight"].double ?? 0) }
            #expect(isClose(mean, figure), comment)
        case .latest:
            #expect(members["latest"]["value"].double == figure, comment)
            #expect(members["samples"].array?.last?["value"].double == figure, comment)
        case .standHours:
            #expect(Double((members["hours"].array ?? []).count { $0["stood"] == true }) == figure, comment)
        case .count: #expect(Double(members["samples"].array?.count ?? 0) == figure, comment)
        case .sleep: checkNight(members, figure, summary, comment)
        case .workouts: checkWorkouts(members, figure, summary, comment)
        case .visits: #expect(Double(members["visits"].array?.count ?? 0) == figure, comment)
        }
    }

    private static func checkNight(_ members: Value, _ figure: Double, _ summary: Value, _ comment: Comment) {
        let sessions = members["sessions"].array ?? []
        let main = sessions.filter { $0["main"] == true }
        #expect(main.count == 1, comment)
        let naps = sessions.filter { $0["main"] == false && !$0["asleepMinutes"].isNull }
        #expect(naps.count == summary["naps"].array?.count ?? 0, comment)
        for (session, reported) in zip(main + naps, [summary["sleep"]] + (summary["naps"].array ?? [])) {
            for (member, value) in reported.object ?? [:] { #expect(session[member] == value, comment) }
            let stretches = session["stretches"]
            #expect(
                isClose(minutes(stretches, "deep", "REM", "core", "asleep"), reported["asleepMinutes"].double), comment)
            for (stage, member) in [("deep", "deepMinutes"), ("awake", "awakeMinutes"), ("in bed", "inBedMinutes")] {
                #expect(isClose(minutes(stretches, stage), reported[member].double), comment)
            }
        }
        #expect(isClose(minutes(main.first?["stretches"] ?? .null, "deep", "REM", "core", "asleep"), figure), comment)
    }

    private static func checkWorkouts(_ members: Value, _ figure: Double, _ summary: Value, _ comment: Comment) {
        let all = members["workouts"].array ?? []
        let counted = all.filter { $0["counted"] == true }
        #expect(Double(counted.count) == figure, comment)
        for (workout, reported) in zip(counted, summary["workouts"].array ?? []) {
            for member in [
                "id", "activity", "start", "end", "durationSeconds", "distanceMeters", "energyKilocalories",
                "heartRate",
            ] {
                #expect(workout[member] == reported[member], comment)
            }
        }
        let isOn = members["newestOfRepeats"] == true
        for workout in all {
            #expect(workout["counted"] == .bool(!isOn || workout["repeats"].isNull), comment)
            for (value, from) in [("distanceMeters", "distanceFrom"), ("energyKilocalories", "energyFrom")] {
                #expect(workout[value].isNull == (workout[from]["from"] == "unknown"), comment)
                guard workout[from]["from"] == "statistics" else { continue }
                #expect(isClose(sum(workout[from]["parts"], "sum"), workout[value].double), comment)
            }
            if workout["durationFrom"] == "activeTime",
                let start = workout["start"].string.flatMap({ InstantText.parse($0) }),
                let end = workout["end"].string.flatMap({ InstantText.parse($0) })
            {
                let active = (end - start).seconds - (workout["pausedSeconds"].double ?? 0)
                #expect(isClose(active, workout["durationSeconds"].double), comment)
            }
            #expect(workout["heartRate"].isNull == (workout["heartRateFrom"]["from"] == "unknown"), comment)
        }
    }

    /// A summary that differs in any member can be distinguished from one that agrees.
    @Test func anotherSummaryIsNoticed() throws {
        func night(_ samples: String) throws -> ExplainedDay {
            try ExplainedDay(try ExplainedMetric("sleep"), Self.input(samples))
        }
        let reported = try night("Watch core 23:00–06:00; Watch core 14:00–14:40")
        let figures = try SleepHandler().compute(Self.input("Watch core 23:00–06:00; Watch core 14:00–14:40")).figures
        #expect(reported.agrees(with: .object(figures)))
        var other = figures
        other["naps"] = []
        #expect(!reported.agrees(with: .object(other)))
        other = figures
        var sleep = try #require(figures["sleep"]?.object)
        sleep["end"] = "2025-06-01T06:00:01Z"
        other["sleep"] = .object(sleep)
        #expect(!reported.agrees(with: .object(other)))
        // There is only time in bed, so neither side has minutes asleep.
        let bed = try SleepHandler().compute(Self.input("iPhone in bed 23:00–06:00")).figures
        #expect(try night("iPhone in bed 23:00–06:00").agrees(with: .object(bed)))
        #expect(try !night("iPhone in bed 23:00–06:01").agrees(with: .object(bed)))
        #expect(try !night("Watch core 19:00–20:00").agrees(with: [:]) && night("Watch core 19:00–20:00").result == 60)
    }

    // MARK: The nights that the documentation works out

    private static let stages = ["in bed": 0.0, "asleep": 1, "awake": 2, "core": 3, "deep": 4, "REM": 5]

    /// The rows of the table in docs/figures.md: samples, the main sleep, its minutes asleep, and those of the naps.
    private static func nights() throws -> [[String]] {
        let text = try Checkout.text("docs/figures.md")
        let table = try #require(
            text.components(separatedBy: "| samples | sleep | asleep | naps |\n").dropFirst().first)
        return table.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("|") }.dropFirst()
            .map { line in
                line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
    }

    /// A time such as "23:00" in UTC, for the day 2025-06-01; times from 18:00 on are on the evening before.
    private static func instant(_ text: some StringProtocol) throws -> Instant {
        let parts = text.split(separator: ":").compactMap { Int($0) }
        try #require(parts.count == 2)
        let date = parts[0] < 18 ? "2025-06-01" : "2025-05-31"
        return try #require(InstantText.parse("\(date)T\(text):00Z"))
    }

    private static func page(_ samples: String) throws -> SamplePage {
        var page = SamplePage()
        page.types = ["HKCategoryTypeIdentifierSleepAnalysis"]
        let parsed = try samples.components(separatedBy: "; ").map { sample in
            let words = sample.split(separator: " ")
            let times = try #require(words.last).split(separator: "–")
            let source = try #require(words.first)
            let stage = try #require(stages[words.dropFirst().dropLast().joined(separator: " ")], "\(sample)")
            return (
                String(source), stage, try instant(try #require(times.first)), try instant(try #require(times.last))
            )
        }.sorted { $0.2 < $1.2 }
        for (number, (source, stage, start, end)) in parsed.enumerated() {
            page.ids.append(SampleID(high: 1, low: UInt64(number)))
            page.sequence.append(1)
            page.type.append(0)
            page.start.append(start.microseconds)
            page.end.append(end.microseconds)
            page.value.append(stage)
            page.origins.append(Origin(sourceName: source))
            page.origin.append(Int32(number))
            page.flags.append([])
        }
        return page
    }

    private static func input(_ samples: String) throws -> DayInput {
        DayInput(
            user: "me", day: LocalDay(year: 2025, month: 6, day: 1), window: try SleepHandler().window([:]),
            zones: try ZoneTimeline(zone: "UTC"), cutting: try page(samples))
    }

    @Test func textProgramAndExplainAgreeOnNights() throws {
        let nights = try Self.nights()
        #expect(nights.count >= 8)
        for night in nights {
            try #require(night.count == 4, "\(night)")
            let input = try Self.input(night[0])
            let figures = try SleepHandler().compute(input).figures
            let explained = try ExplainedDay(try ExplainedMetric("sleep"), input)
            let comment: Comment = "\(night)"

            let sleep = figures["sleep"] ?? .null
            let times = night[1].split(separator: "–")
            #expect(sleep["start"].string == InstantText.iso8601(try Self.instant(times[0])), comment)
            #expect(sleep["end"].string == InstantText.iso8601(try Self.instant(times[1])), comment)
            #expect(sleep["asleepMinutes"].double == Double(night[2]), comment)
            let naps = night[3] == "none" ? [] : night[3].components(separatedBy: ", ").map { Double($0) }
            #expect((figures["naps"]?.array ?? []).map { $0["asleepMinutes"].double } == naps, comment)

            #expect(explained.result == sleep["asleepMinutes"].double, comment)
            #expect(explained.agrees(with: .object(figures)), comment)
            Self.checkNight(
                .object(explained.members), sleep["asleepMinutes"].double ?? 0, .object(figures), comment)
        }
    }
}
