import HealthModel

/// The validated configuration for nights.
public struct SleepOptions {
    /// The longest time without samples within a session.
    public let gap: Duration
    /// The hour of the local clock at which one night's window ends and the next begins.
    let windowHour: Int

    /// - Throws: `SleepConfigurationError`.
    public init(_ configuration: Value) throws {
        let minutes = configuration["gapMinutes"].double ?? 60
        let hour = configuration["windowHour"].int ?? 18
        guard minutes.isFinite, (0...720).contains(minutes) else {
            throw SleepConfigurationError(option: "gapMinutes", allowed: "a number from 0 to 720")
        }
        guard (12...23).contains(hour) else {
            throw SleepConfigurationError(option: "windowHour", allowed: "a whole number from 12 to 23")
        }
        gap = .microseconds(Int64(minutes * 60 * 1_000_000))
        windowHour = Int(hour)
    }

    /// The window reaches back half a day, since sessions that end in it may have begun there, and forward as far as a
    /// sample could still extend a session. A sample that begins exactly one gap after a session's end still extends
    /// it, hence the extra microsecond.
    public var window: HandlerWindow {
        HandlerWindow(endHour: windowHour, before: .seconds(12 * 3600), after: gap + .microseconds(1))
    }
}

/// A configuration option whose value is out of range.
public struct SleepConfigurationError: Error, Equatable, CustomStringConvertible {
    package var option: String
    package var allowed: String

    public var description: String { "sleep: '\(option)' must be \(allowed); correct it in the stack's configuration" }
}
