import Glibc
import HealthModel

/// Microseconds of a clock that never jumps (CLOCK_MONOTONIC): for time-outs and windows.
package enum MonotonicClock {
    package static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * Instant.second + Int64(time.tv_nsec) / 1000
    }
}

/// Microseconds since 1970 by the machine's clock (CLOCK_REALTIME).
package enum WallClock {
    package static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * Instant.second + Int64(time.tv_nsec) / 1000
    }
}
