import HealthModel
import HealthStatistics

/// A day's main sleep, and an event for each night and nap.
///
/// A session belongs to the day in whose window, from `windowHour` of the day before to `windowHour` of the day by the local clock, it
/// ends. `sleep` is the session with the most sleep; the others are naps and only events. Start and end are ISO 8601 in UTC, lengths
/// minutes, and what the source doesn't know is null.
///
/// Configuration: `gapMinutes` (more than this without samples parts sessions), `windowHour`, `sourceOrder`.
public struct SleepHandler: DayHandler {
    public let version = 1
    public let window = HandlerWindow.night
    /// A day: sessions that run over the window's edge are seen whole, and another `windowHour` finds its samples.
    public let reach: Instant = 24 * 3600 * Instant.second

    public init() {}

    public func compute(_ input: DayInput) throws -> DayOutput {
        let type = "HKCategoryTypeIdentifierSleepAnalysis"
        let gap = input.configuration["gapMinutes"].double ?? 60
        let hour = input.configuration["windowHour"].int ?? 18
        guard gap.isFinite, (0...720).contains(gap) else {
            throw SleepConfigurationError(option: "gapMinutes", allowed: "a number from 0 to 720")
        }
        guard (12...23).contains(hour) else {
            throw SleepConfigurationError(option: "windowHour", allowed: "a whole number from 12 to 23")
        }
        let window = input.zones.window(of: input.day, endingAtHour: Int(hour))
        let sessions = SleepAnalysis.sessions(
            input.samples, rows: input.samples.rows(of: type), order: input.sourceOrder(for: type),
            gap: Instant(gap * 60 * 1_000_000)
        ).filter { session in
            // The end is exclusive: what ends at the edge lies before it.
            window.contains { $0.contains(session.end - 1) }
        }
        guard let main = SleepAnalysis.main(of: sessions) else { return DayOutput() }
        return DayOutput(
            figures: ["sleep": .object(Self.figure(sessions[main]))],
            events: sessions.enumerated().map { index, session in
                Self.event(session, isMain: index == main, day: input.day)
            })
    }

    private static func figure(_ session: SleepSession) -> [String: Value] {
        [
            "start": .string(InstantText.iso8601(session.start)),
            "end": .string(InstantText.iso8601(session.end)),
            "asleepMinutes": Value(session.asleep),
            "inBedMinutes": Value(session.inBed),
            "awakeMinutes": Value(session.awake),
            "coreMinutes": Value(session.core),
            "deepMinutes": Value(session.deep),
            "remMinutes": Value(session.rem),
            "unspecifiedMinutes": Value(session.unspecified),
            "efficiency": Value(session.efficiency),
        ]
    }

    /// The figure's members and, beside them, which day and source it is of, whether it is the main sleep, and the latency.
    private static func event(_ session: SleepSession, isMain: Bool, day: LocalDay) -> DayEvent {
        var payload = figure(session)
        payload["id"] = .string(session.id.description)
        payload["date"] = .string(day.description)
        payload["main"] = .bool(isMain)
        payload["source"] = .string(session.source)
        payload["latencyMinutes"] = Value(session.latency)
        return DayEvent(id: session.id.description, kind: "night", payload: .object(payload))
    }
}

/// An option outside what the handler can do.
public struct SleepConfigurationError: Error, Equatable, CustomStringConvertible {
    public var option: String
    public var allowed: String

    public var description: String { "sleep: '\(option)' must be \(allowed); correct it in the stack's configuration" }
}
