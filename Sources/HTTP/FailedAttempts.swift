/// Who has failed to show a valid token too often to be asked again now. Pure: the clock is passed in, in seconds.
///
/// Where secrets could be guessed, ask `wait` before one is looked at: a guess that is right mustn't get through either, so a
/// good client behind the same address waits too. Where they can't (256 random bits), look first, and hold up only what is
/// wrong: behind a proxy all clients have one address. Say `failed` when it is wrong. A success forgives nothing: else whoever
/// has one token could guess at others.
package struct FailedAttempts<Key: Hashable & Sendable>: Sendable {
    private var limit: RateLimit<Key>

    /// - Parameters:
    ///   - allowed: failures in a row.
    ///   - seconds: after so long one of them is forgiven.
    ///   - keys: so many are remembered (`RateLimit`).
    package init(allowed: Int = 10, forgivenAfter seconds: Double = 30, keys: Int = 10_000) {
        limit = RateLimit(perSecond: 1 / max(seconds, 0.001), burst: Double(allowed), keys: keys)
    }

    /// Seconds for which the key isn't to be asked, for `HTTPResponse.tooManyRequests`; nil when it is.
    package func wait(_ key: Key, at now: Double) -> Double? { limit.wait(key, at: now) }

    /// It showed a wrong token.
    package mutating func failed(_ key: Key, at now: Double) { _ = limit.take(key, at: now) }
}
