import HealthModel
import HealthStatistics
import Inspection
import Terminal

/// A night: the sessions in its window, the sources whose sleep stages each one uses, and which is the main one.
struct NightExplanation: Explanation {
    let sessions: [SleepExplanation]
    let main: Int?
    let window: [Range<Instant>]
    let gapMinutes: Double

    /// As computed by the handler.
    let figures: [String: Value]

    init(_ input: DayInput) throws {
        window = input.window
        let gap = try SleepOptions(input.configuration).gap
        gapMinutes = gap.seconds / 60
        sessions = SleepDay.explanations(input, gap: gap)
        main = SleepAnalysis.main(of: sessions.map(\.session))
        let computed = SleepDay(input, gap: gap).figures
        figures = ["sleep": computed["sleep"] ?? .null, "naps": computed["naps"] ?? .null]
    }

    /// Nights that an app has summed up itself.
    var statistics: Int? { sessions.count { $0.session.isStatistic } }

    var result: Double? { main.flatMap { sessions[$0].session.asleep } }

    func headline(_ unit: String) -> String? {
        guard let session = main.map({ sessions[$0].session }) else { return nil }
        if let asleep = session.asleep { return "\(ShownNumber.exact(asleep)) \(unit) asleep" }
        return "no time asleep is known" + (session.inBed.map { ", \(ShownNumber.exact($0)) \(unit) in bed" } ?? "")
    }

    var rule: String {
        "A session belongs to the day in whose window it ends; more than \(ShownNumber.short(gapMinutes)) minutes without a sample of any source "
            + "separate two. The main session is the one with the most sleep; the others with any sleep are naps. "
            + "At each moment, the first source that says asleep or awake counts."
    }

    private func reason(_ index: Int) -> String {
        guard index != main else {
            if sessions.count == 1 { return "the only session" }
            return sessions[index].session.asleep == nil
                ? "the longest; none has sleep" : "the most sleep in the window"
        }
        return sessions[index].session.asleep == nil ? "no sleep in it" : "another session has more sleep"
    }

    /// "Main", "Nap", or "In bed" for a session without sleep.
    private func title(_ index: Int) -> String {
        index == main ? "Main" : sessions[index].session.asleep == nil ? "In bed" : "Nap"
    }

    private static func knows(_ session: SleepExplanation) -> String {
        switch session.knows {
        case .stages: "the first, by priority, that has stages"
        case .sleep: "no source has stages; the first that has sleep"
        case .awake: "no source has sleep"
        case .inBed: "there is only time in bed"
        case .statistic: "no sample says anything about sleep: an app added up the night and sent no stages"
        }
    }

    var members: [String: Value] {
        [
            "window": .array(
                window.map {
                    [
                        "start": .string(InstantText.iso8601($0.lowerBound)),
                        "end": .string(InstantText.iso8601($0.upperBound)),
                    ]
                }),
            "sessions": .array(
                sessions.enumerated().map { index, explained in
                    Self.value(explained, isMain: index == main, reason(index))
                }),
        ]
    }

    private static func value(_ explained: SleepExplanation, isMain: Bool, _ why: String) -> Value {
        var value = explained.session.figure
        value["main"] = .bool(isMain)
        value["why"] = .string(why)
        value["statistic"] = .bool(explained.session.isStatistic)
        value["knows"] = .string(explained.knows.rawValue)
        value["sources"] = explained.session.sourceMinutes
        value["bedSource"] = Value(explained.bedSource)
        value["leftOut"] = .array(explained.leftOut.map { .string($0) })
        value["untoldMinutes"] = .number(explained.unknown.seconds / 60)
        value["stretches"] = .array(
            explained.stretches.map {
                [
                    "start": .string(InstantText.iso8601($0.start)), "end": .string(InstantText.iso8601($0.end)),
                    "stage": .string($0.stage.name), "source": .string($0.source),
                ]
            })
        return .object(value)
    }

    func tables(_ shown: ExplainOptions, _ clock: DayClock) -> [ExplainTable] {
        var table = Table([
            .init("Session"), .init("From"), .init("To"), .number("Asleep"), .number("In bed", givesWay: 3),
            .init("Stages from"), .init("In bed from", givesWay: 2), .init("Left out", givesWay: 1),
        ])
        for (index, explained) in sessions.enumerated() {
            let session = explained.session
            table.add([
                title(index), clock.time(session.start), clock.time(session.end),
                Self.minutes(session.asleep), Self.minutes(session.inBed), Self.sources(session),
                explained.bedSource ?? "",
                explained.leftOut.joined(separator: ", "),
            ])
        }
        let why = sessions.indices.map { index in
            "\(title(index)), \(clock.time(sessions[index].session.start)): \(reason(index)); \(sessions[index].session.isStatistic ? "lengths" : "stages") from "
                + "\(sessions[index].session.source), \(Self.knows(sessions[index]))."
                + Self.shares(sessions[index].session, gapMinutes) + Self.unknown(sessions[index])
        }
        return [ExplainTable(table: table, footer: why.joined(separator: "\n"))]
            + sessions.filter { !$0.stretches.isEmpty }.map {
                ExplainTable(table: Self.stretches($0, clock), rowsOnScreen: 40)
            }
    }

    private static func sources(_ session: SleepSession) -> String {
        session.sources.isEmpty ? session.source : session.sources.map(\.source).joined(separator: ", ")
    }

    /// Which minutes came from whom, if they came from several.
    private static func shares(_ session: SleepSession, _ gapMinutes: Double) -> String {
        guard session.sources.count > 1 else { return "" }
        let reported = session.sources.map { share in
            "\(share.source) " + minutes(share.asleep ?? 0) + " asleep"
                + (share.awake.map { ", " + minutes($0) + " awake" } ?? "")
        }
        return
            " Where it says neither asleep nor awake, others count; before its first and after its last sample, those "
            + "whose sleep goes on for more than \(ShownNumber.short(gapMinutes)) minutes: "
            + reported.joined(separator: "; ") + "."
    }

    private static func unknown(_ explained: SleepExplanation) -> String {
        guard explained.unknown > .zero else { return "" }
        return
            " Nothing is known about \(minutes(explained.unknown.seconds / 60)): they count as neither asleep nor awake."
    }

    private static func minutes(_ minutes: Double?) -> String { minutes.map { "\(ShownNumber.short($0)) min" } ?? "" }

    private static func stretches(_ explained: SleepExplanation, _ clock: DayClock) -> Table {
        let isMixed = explained.session.sources.count > 1
        var table = Table(
            [.init("From"), .init("To"), .number("Time"), .init("Stage")] + (isMixed ? [.init("Source")] : []))
        for stretch in explained.stretches {
            table.add(
                [
                    clock.time(stretch.start), clock.time(stretch.end),
                    HumanFormat.duration(stretch.end - stretch.start), stretch.stage.name,
                ] + (isMixed ? [stretch.source] : []))
        }
        return table
    }
}

extension SleepStage {
    var name: String {
        switch self {
        case .inBed: "in bed"
        case .unspecified: "asleep"
        case .awake: "awake"
        case .core: "core"
        case .deep: "deep"
        case .rem: "REM"
        }
    }
}
