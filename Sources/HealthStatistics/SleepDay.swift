import HealthModel

/// The sleep of one day: the sessions that belong to it, and which of them is the main one.
public struct SleepDay: Sendable {
    /// The sessions, in chronological order.
    public let sessions: [SleepSession]
    /// The index into `sessions` of the main session: the one with the most sleep, or the longest if none has any. Nil
    /// without sessions.
    public let main: Int?

    private static let type = HealthType.sleepIdentifier
    /// The types whose payloads and creation dates it reads: the statistics of nights.
    public static let detailedTypes: Set = [HealthType.statistics(of: HealthType.sleepIdentifier)]

    /// - Parameter gap: the longest time within a session without a sample from any source.
    public init(_ input: DayInput, gap: Duration) {
        sessions = SleepAnalysis.sessions(
            input.samples, rows: input.samples.rows(of: Self.type), order: input.sourceOrder(for: Self.type), gap: gap
        ).filter { Self.has($0, input) }
        main = SleepAnalysis.main(of: sessions)
    }

    /// The sessions that have sleep, except the main one, in order.
    public var naps: [SleepSession] {
        sessions.indices.filter { $0 != main && sessions[$0].asleep != nil }.map { sessions[$0] }
    }

    /// The day's sessions, each with the samples that it was made from.
    package static func explanations(_ input: DayInput, gap: Duration) -> [SleepExplanation] {
        SleepAnalysis.explanations(
            input.samples, rows: input.samples.rows(of: type), order: input.sourceOrder(for: type), gap: gap
        ).filter { has($0.session, input) }
    }

    /// A session belongs to the day whose window contains its end. A session that ends exactly at the edge of two
    /// windows belongs to the earlier one.
    private static func has(_ session: SleepSession, _ input: DayInput) -> Bool {
        input.contains(session.reach - .microseconds(1))
    }
}
