/// How often each key may do something: so many at once, then at a steady rate. Pure: the clock is passed in, in seconds.
///
/// A server's threads share one in a `Mutex`.
///
/// A bucket of tokens for each key, written down as the one time at which it will be full again. So a full bucket and a key that
/// was never seen are the same, and those that are full needn't be kept.
package struct RateLimit<Key: Hashable & Sendable>: Sendable {
    private let secondsEach: Double
    private let burst: Double
    private let capacity: Int
    private var fullAt: [Key: Double] = [:]

    /// - Parameters:
    ///   - perSecond: tokens that come back; above 0.
    ///   - burst: tokens of a full bucket, 1 at least.
    ///   - keys: so many are remembered. When there are more, those that owe least are forgotten: they get a full bucket.
    package init(perSecond: Double, burst: Double, keys: Int = 10_000) {
        secondsEach = 1 / max(perSecond, 1e-9)
        self.burst = max(burst, 1)
        capacity = max(keys, 1)
    }

    /// Keys that are remembered.
    package var count: Int { fullAt.count }

    /// Seconds until the key has so many tokens (at most a bucket full of them); nil when it has them now.
    package func wait(_ key: Key, for tokens: Double = 1, at now: Double) -> Double? {
        let wait = max(fullAt[key] ?? now, now) - now + (min(tokens, burst) - burst) * secondsEach
        // What rounding leaves is no wait.
        return wait > 1e-6 ? wait : nil
    }

    /// Takes the tokens if the key has them.
    /// - Returns: nil when they were taken; else seconds until it has them, and nothing was taken.
    package mutating func take(_ key: Key, _ tokens: Double = 1, at now: Double) -> Double? {
        if let wait = wait(key, for: tokens, at: now) { return wait }
        let since = fullAt[key]
        if since == nil, fullAt.count >= capacity { forget(at: now) }
        fullAt[key] = max(since ?? now, now) + min(tokens, burst) * secondsEach
        return nil
    }

    /// Room for new keys, a quarter at least, so that it isn't looked for at each one.
    private mutating func forget(at now: Double) {
        fullAt = fullAt.filter { $0.value > now }
        let excess = fullAt.count - capacity * 3 / 4
        guard excess > 0 else { return }
        for (key, _) in fullAt.sorted(by: { $0.value < $1.value }).prefix(excess) { fullAt[key] = nil }
    }
}
