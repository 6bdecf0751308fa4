/// A moment on a clock that never jumps: for time-outs and windows, which mustn't move when somebody sets the clock. It
/// means nothing on another machine or after this one restarts; anything that is stored or sent uses `Instant`. The
/// time between two moments is a `Duration`.
package struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Since some fixed moment.
    package let microseconds: Int64

    /// A moment before anything that the process can know of.
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
