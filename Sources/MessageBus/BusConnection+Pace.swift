import HealthModel

extension BusConnection {
    /// The time between heartbeats while none has come back yet.
    private static let impatience = Duration.milliseconds(30)
    /// The time between heartbeats of a process whose state keeps changing: each heartbeat repeats everything in the
    /// previous one, and every listener reads it.
    package static let spacing = Duration.milliseconds(100)

    /// How soon the next heartbeat follows.
    package enum Pace: Sendable, Equatable {
        /// In quick succession, since none has come back yet.
        case unheard
        /// Spaced out: there are changes to report, and more will follow.
        case moving
        case every(Duration)

        package static let lively = Pace.every(Repetition.lively)
        package static let quiet = Pace.every(Repetition.quiet)

        package func next(after last: MonotonicTime) -> MonotonicTime {
            switch self {
            case .unheard: last + BusConnection.impatience
            case .moving: last + BusConnection.spacing
            case .every(let interval): Repetition.next(interval, after: last)
            }
        }
    }
}
