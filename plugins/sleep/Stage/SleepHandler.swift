import HealthModel
import HealthStatistics

/// A day's main sleep and its naps, and an event for each.
///
/// A session belongs to the day in whose window, from `windowHour` of the day before to `windowHour` of the day by the local clock, it
/// ends. `sleep` is the session with the most sleep, `naps` are the others with any. A session without sleep (time in bed only) is an
/// event, and the day's `sleep` when there is nothing better. Start and end are those of the session, ISO 8601 in UTC; lengths are
/// minutes, and what the source doesn't know is null.
///
/// Configuration: `gapMinutes` (more than this without samples parts sessions), `windowHour`, `sourceOrder`.
public struct SleepHandler: PluginHandler {
    public let version = 3

    public init() {}

    public func window(_ configuration: Value) throws -> HandlerWindow { try SleepOptions(configuration).window }

    /// How much time without samples doesn't part a session yet, microseconds.
    public static func gap(_ configuration: Value) throws -> Instant { try SleepOptions(configuration).gap }

    public func compute(_ input: DayInput) throws -> DayOutput {
        let day = SleepDay(input, gap: try Self.gap(input.configuration))
        guard let main = day.main else { return DayOutput() }
        return DayOutput(
            figures: [
                "sleep": .object(Self.figure(day.sessions[main])),
                "naps": .array(day.naps.map { .object(Self.figure($0)) }),
            ],
            events: day.sessions.enumerated().map { index, session in
                Self.event(session, isMain: index == main, day: input.day)
            })
    }

    /// A session as a member of the daily summary.
    public static func figure(_ session: SleepSession) -> [String: Value] {
        [
            "start": .string(InstantText.iso8601(session.start)),
            "end": .string(InstantText.iso8601(session.end)),
            "source": .string(session.source),
            "asleepMinutes": Value(session.asleep),
            "inBedMinutes": Value(session.inBed),
            "awakeMinutes": Value(session.awake),
            "coreMinutes": Value(session.core),
            "deepMinutes": Value(session.deep),
            "remMinutes": Value(session.rem),
            "unspecifiedMinutes": Value(session.unspecified),
            "latencyMinutes": Value(session.latency),
            "wakeAfterOnsetMinutes": Value(session.wakeAfterOnset),
            "efficiency": Value(session.efficiency),
        ]
    }

    /// The figure's members and, beside them, which day it is of and whether it is the main sleep.
    private static func event(_ session: SleepSession, isMain: Bool, day: LocalDay) -> DayEvent {
        var payload = figure(session)
        payload["id"] = .string(session.id.description)
        payload["date"] = .string(day.description)
        payload["main"] = .bool(isMain)
        return DayEvent(id: session.id.description, kind: "night", payload: .object(payload))
    }
}
