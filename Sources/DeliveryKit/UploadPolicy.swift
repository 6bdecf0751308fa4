import HealthModel

/// What to do after an attempt to deliver: pure, with clock and chance passed in.
package struct UploadPolicy: Sendable, Equatable {
    /// Seconds: the bound of the first delay, doubled by each further attempt up to `cap`.
    package var base: Double
    package var cap: Double
    /// Seconds that the backend may ask for at most.
    package var askedCap: Double
    /// Seconds that the backend asked for, of the last retry; nil when it asked for nothing.
    package private(set) var asked: Double?
    /// Attempts in a row that failed.
    package private(set) var attempt = 0
    /// A new token was asked for since the last success.
    package private(set) var hasRefreshedToken = false
    /// Conflicts in a row.
    private var conflicts = 0

    /// Conflicts that are taken for another request still under way; more are taken for a refusal.
    private static let conflictLimit = 3

    package init(base: Double = 1, cap: Double = 900, askedCap: Double = 900, attempt: Int = 0) {
        self.base = base
        self.cap = cap
        self.askedCap = askedCap
        self.attempt = attempt
    }

    package enum Outcome: Sendable, Equatable {
        case taken
        /// The request is refused as a whole: too large, or something in it can't be kept. Why, for a dead letter of one element alone.
        case refused(String)
        /// It is to come later, after the time that was asked for, if one was.
        case later(AskedWait? = nil)
        /// It collides with something: with a request under way, which passes, or with what is kept, which doesn't. Why, for a dead letter.
        case conflict(String)
        /// The proof of who we are is refused. `isFinal`: another one wouldn't help either.
        case refusesToken(isFinal: Bool, Pause)
        case needsPerson(Pause)
        /// No answer came, or one that isn't the destination's, or proves nothing: nothing is accepted, and nothing refused.
        case unproven
    }

    package enum Action: Sendable, Equatable {
        /// All of it is delivered, but for what the answer names as refused: that goes to the dead letters.
        case done
        /// The same request again, after so many seconds.
        case retry(after: Double)
        /// Fetch the token again, then the same request at once.
        case refreshToken
        /// Nothing helps but a person: keep everything, say so, try again when the configuration changes.
        case pause(Pause)
        /// Send the two halves apart.
        case split
        /// This single element can't be delivered: keep it aside with the reason, go on with the next.
        case deadLetter(String)
    }

    /// What only a person can mend.
    package struct Pause: Sendable, Equatable {
        /// What to do now, as the end of a sentence that says what happened.
        package var remedy: String

        package init(remedy: String) { self.remedy = remedy }
    }

    /// - Parameters:
    ///   - elements: how many the request held.
    ///   - now: microseconds since 1970, for a Retry-After that is a date.
    package mutating func action(
        after outcome: Outcome, elements: Int, now: Instant, using generator: inout some RandomNumberGenerator
    ) -> Action {
        asked = nil
        let action = decide(outcome, elements: elements, now: now, using: &generator)
        switch action {
        case .retry:
            attempt += 1
            if case .conflict = outcome { conflicts += 1 } else { conflicts = 0 }
        case .refreshToken: hasRefreshedToken = true
        case .pause: break
        case .done, .split, .deadLetter: succeeded()
        }
        return action
    }

    /// The backend has taken something: what comes next starts anew.
    package mutating func succeeded() {
        attempt = 0
        hasRefreshedToken = false
        conflicts = 0
        asked = nil
    }

    private mutating func decide(
        _ outcome: Outcome, elements: Int, now: Instant, using generator: inout some RandomNumberGenerator
    ) -> Action {
        switch outcome {
        case .taken: return .done
        case .unproven: return .retry(after: jitter(using: &generator))
        case .refused(let reason): return elements > 1 ? .split : .deadLetter(reason)
        case .conflict(let reason):
            guard conflicts >= Self.conflictLimit else { return .retry(after: jitter(using: &generator)) }
            return elements > 1 ? .split : .deadLetter(reason)
        case .later(let wait):
            asked = wait?.seconds(from: now)
            return .retry(after: asked.map { min($0, askedCap) } ?? jitter(using: &generator))
        case .refusesToken(let isFinal, let pause):
            return isFinal || hasRefreshedToken ? .pause(pause) : .refreshToken
        case .needsPerson(let pause): return .pause(pause)
        }
    }

    /// Full jitter: anything from 0 to min(cap, base · 2^attempt), so that many clients don't come back at once.
    private func jitter(using generator: inout some RandomNumberGenerator) -> Double {
        var bound = base
        for _ in 0..<min(attempt, 62) where bound < cap { bound *= 2 }
        // 53 bits in one draw: a seeded simulation draws the same number whatever the bound is.
        let fraction = Double(generator.next() >> 11) / 9_007_199_254_740_992
        return min(cap, bound) * fraction
    }
}
