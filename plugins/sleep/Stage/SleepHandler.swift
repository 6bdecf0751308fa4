import HealthModel
import HealthStatistics

/// A day's main sleep and its naps, and an event for each.
///
/// A session belongs to the day in whose window it ends: from `windowHour` on the day before to `windowHour` on the day
/// itself, by the local clock. `sleep` is the session with the most sleep, `naps` are the others with any sleep. A
/// session without sleep (time in bed only) is an event, and is the day's `sleep` if there is nothing better. An app's
/// summary of a night counts only where no sample reports sleep. Start and end are those of the session, ISO 8601 in
/// UTC; lengths are in minutes, and whatever the source doesn't know is null.
///
/// Configuration: `gapMinutes` (a longer time without samples separates sessions), `windowHour`, `sourceOrder`.
public struct SleepHandler: PluginHandler {
    public let version = 6
    public let detailedTypes = SleepDay.detailedTypes

    public init() {}

    public func window(_ configuration: Value) throws -> HandlerWindow { try SleepOptions(configuration).window }

    public func compute(_ input: DayInput) throws -> DayOutput {
        let day = SleepDay(input, gap: try SleepOptions(input.configuration).gap)
        guard let main = day.main else { return DayOutput() }
        return DayOutput(
            figures: day.figures,
            events: day.sessions.enumerated().map { index, session in
                Self.event(session, isMain: index == main, day: input.day)
            })
    }

    /// The members of the figure, together with the day that it belongs to and whether it is the main sleep.
    private static func event(_ session: SleepSession, isMain: Bool, day: LocalDay) -> DayEvent {
        var payload = session.figure
        payload["id"] = .string(session.id.description)
        payload["date"] = .string(day.description)
        payload["main"] = .bool(isMain)
        return DayEvent(id: session.id.description, kind: "night", payload: .object(payload))
    }
}
