/// Who has failed to show a valid token so often that they must wait. Pure: the clock is passed in, in seconds.
///
/// If secrets could be guessed, call `wait` before checking one. Even a correct guess mustn't get through then, so a
/// legitimate client behind the same address waits too. If they can't be guessed (256 random bits), check first, and
/// delay only wrong guesses, because behind a proxy all clients share one address. Call `failed` for a wrong secret. A
/// success doesn't clear earlier failures: otherwise the owner of one token could guess at others.
package struct FailedAttempts<Key: Hashable & Sendable>: Sendable {
    private var limit: RateLimit<Key>

    /// - Parameters:
    ///   - allowed: how many failures are allowed at once.
    ///   - seconds: the time after which one failure is forgiven.
    ///   - keys: how many keys are remembered (`RateLimit`).
    package init(allowed: Int = 10, forgivenAfter seconds: Double = 30, keys: Int = 10_000) {
        limit = RateLimit(perSecond: 1 / max(seconds, 0.001), burst: Double(allowed), keys: keys)
    }

    /// How many seconds the key's holder has to wait, for `HTTPHeaders.retryAfter`; nil when there is no need to wait.
    package func wait(_ key: Key, at now: Double) -> Double? { limit.wait(key, at: now) }

    /// The key's holder has shown a wrong token.
    package mutating func failed(_ key: Key, at now: Double) { _ = limit.take(key, at: now) }
}
