/// A moment on a clock that never jumps, for time-outs and windows, which must not move when somebody sets the clock.
/// It is meaningless on another machine or after this one restarts; anything stored or sent uses `Instant`. The time
/// between two moments is a `Duration`.
package struct MonotonicTime: Comparable, Hashable, Sendable {
    /// The time since some fixed moment.
    package let microseconds: Int64

    /// A moment before the process started.
    package static let distantPast = MonotonicTime(microseconds: 0)
    package static let distantFuture = MonotonicTime(microseconds: .max)

    package init(microseconds: Int64) { self.microseconds = microseconds }

    package static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.microseconds < b.microseconds }

    package static func - (a: MonotonicTime, b: MonotonicTime) -> Duration {
        .microseconds(a.microseconds - b.microseconds)
    }

    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        MonotonicTime(microseconds: time.microseconds + duration.microseconds)
    }

    package static func - (time: MonotonicTime, duration: Duration) -> MonotonicTime { time + (.zero - duration) }
    package static func += (time: inout MonotonicTime, duration: Duration) { time = time + duration }
}
