import Glibc
import HealthModel

/// The machine's monotonic clock (CLOCK_MONOTONIC).
package enum MonotonicClock {
    package static var now: MonotonicTime { MonotonicTime(microseconds: microseconds(of: CLOCK_MONOTONIC)) }
}

/// The machine's wall clock (CLOCK_REALTIME).
package enum WallClock {
    package static var now: Instant { Instant(microseconds: microseconds(of: CLOCK_REALTIME)) }
}

private func microseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}
