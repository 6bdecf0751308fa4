import HealthModel

extension BusConnection {
    /// The time between heartbeats while none has come back yet.
    private static let impatience = Duration.milliseconds(30)
    /// The time between heartbeats of a process whose state keeps changing: each heartbeat repeats everything in the
    /// previous one, and every listener reads it.
    package static let spacing = Duration.milliseconds(100)

    /// How soon the next heartbeat follows.
    package enum Pace: Sendable {
        /// In quick succession, since none has come back yet.
        case unheard
        /// Spaced out: there are changes to report, and more will follow.
        case moving
        case lively
        case quiet

        package func next(after last: MonotonicTime) -> MonotonicTime {
            switch self {
            case .unheard: last + BusConnection.impatience
            case .moving: last + BusConnection.spacing
            case .lively: Repetition.next(Repetition.lively, after: last)
            case .quiet: Repetition.next(Repetition.quiet, after: last)
            }
        }
    }
}
