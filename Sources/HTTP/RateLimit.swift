/// Limits how often each key may do something: it allows a burst at once, then a steady rate. Pure: the clock is passed
/// in, in seconds.
///
/// A server's threads share one limit in a `Mutex`.
///
/// Each key has a token bucket, stored simply as the time at which it will be full again. So a full bucket looks like
/// that of a key never seen, and needn't be stored.
package struct RateLimit<Key: Hashable & Sendable>: Sendable {
    private let secondsEach: Double
    private let burst: Double
    private let capacity: Int
    private var fullAt: [Key: Double] = [:]

    /// - Parameters:
    ///   - perSecond: how many tokens are added each second; above 0.
    ///   - burst: how many tokens a full bucket has, at least 1.
    ///   - keys: how many keys are remembered. If there are more, those with the fullest buckets are forgotten, so
    ///     their buckets count as full.
    package init(perSecond: Double, burst: Double, keys: Int = 10_000) {
        secondsEach = 1 / max(perSecond, 1e-9)
        self.burst = max(burst, 1)
        capacity = max(keys, 1)
    }

    /// The number of keys that are remembered.
    package var count: Int { fullAt.count }

    /// How many seconds until the key has the given number of tokens (at most a full bucket); nil when it has them now.
    package func wait(_ key: Key, for tokens: Double = 1, at now: Double) -> Double? {
        let wait = max(fullAt[key] ?? now, now) - now + (min(tokens, burst) - burst) * secondsEach
        // A rounding error doesn't count as a wait.
        return wait > 1e-6 ? wait : nil
    }

    /// Takes the tokens if the key has them.
    /// - Returns: nil when they were taken. Otherwise nothing was taken, and the result is the number of seconds until
    ///   the key has them.
    package mutating func take(_ key: Key, _ tokens: Double = 1, at now: Double) -> Double? {
        if let wait = wait(key, for: tokens, at: now) { return wait }
        let since = fullAt[key]
        if since == nil, fullAt.count >= capacity { forget(at: now) }
        fullAt[key] = max(since ?? now, now) + min(tokens, burst) * secondsEach
        return nil
    }

    /// Makes room for new keys by removing at least a quarter, so that this isn't needed for every new key.
    private mutating func forget(at now: Double) {
        fullAt = fullAt.filter { $0.value > now }
        let excess = fullAt.count - capacity * 3 / 4
        guard excess > 0 else { return }
        for (key, _) in fullAt.sorted(by: { $0.value < $1.value }).prefix(excess) { fullAt[key] = nil }
    }
}
