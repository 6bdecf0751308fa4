import HealthModel

/// How long one consumer's syncs take, compared with its own past. Pure.
///
/// Medians are compared, so single slow syncs count for nothing. The past is the median of each earlier day, so it doesn't
/// follow a slowdown within hours: what stays slow becomes the usual time once most of the days are like that.
package struct SyncPace: Codable, Sendable, Equatable {
    /// The last syncs that count, most of which must be slow.
    package static let recentCount = 9
    /// The days that are the past; with fewer than `leastDays` nothing is known to be slow.
    package static let dayCount = 28
    package static let leastDays = 3
    /// Slow is at least this many times as long as before, and at least `leastExcess` longer.
    package static let slowFactor: Int64 = 3
    package static let leastExcess = Duration.seconds(2)
    /// It is over once syncs take less than this many times as long, or less than half the excess longer.
    package static let fastFactor: Int64 = 2
    private static let samplesPerDay = 32

    /// Everything in microseconds. The last syncs, the newest last.
    private var recent: [Int64] = []
    /// The number of the current day since 1970, in UTC.
    private var day: Int64 = 0
    /// Every `stride`-th sync of the current day.
    private var today: [Int64] = []
    private var stride = 1
    private var count = 0
    /// The median of each earlier day that had syncs.
    private var days: [Int64] = []
    package private(set) var isSlow = false

    package init() {}

    /// Counts a sync; returns whether that has made the consumer slow, or fast again.
    package mutating func add(_ duration: Duration, at now: Instant) -> Bool {
        let date = now.microseconds / Duration.seconds(86_400).microseconds
        if date > day {
            if let median = Self.median(today) { days = (days + [median]).suffix(Self.dayCount) }
            (day, today, stride, count) = (date, [], 1, 0)
        }
        recent = (recent + [duration.microseconds]).suffix(Self.recentCount)
        if count % stride == 0 { today.append(duration.microseconds) }
        count += 1
        if today.count == Self.samplesPerDay {
            today = today.indices.filter { $0 % 2 == 0 }.map { today[$0] }
            stride *= 2
        }
        let was = isSlow
        isSlow = looksSlow
        return isSlow != was
    }

    /// The median of the last syncs, and of the earlier days; nil while there are too few of either.
    package var medians: (now: Duration, before: Duration)? {
        guard recent.count == Self.recentCount, days.count >= Self.leastDays, let now = Self.median(recent),
            let before = Self.median(days)
        else { return nil }
        return (.microseconds(now), .microseconds(before))
    }

    private var looksSlow: Bool {
        guard let (now, before) = medians else { return false }
        let excess = now - before
        return isSlow
            ? now >= before * Self.fastFactor && excess + excess >= Self.leastExcess
            : now >= before * Self.slowFactor && excess >= Self.leastExcess
    }

    /// Of two in the middle, the lower one.
    private static func median(_ times: [Int64]) -> Int64? {
        times.isEmpty ? nil : times.sorted()[(times.count - 1) / 2]
    }
}
