import HealthModel

/// What to do after a delivery attempt: pure, with clock and random numbers passed in.
package struct RetryPolicy: Sendable, Equatable {
    /// The upper limit of the first delay, in seconds; it is doubled with each further attempt up to `cap`.
    package var base: Double
    package var cap: Double
    /// The same limit after a refused connection; `cap` if that is lower.
    package var refusedConnectionCap: Double
    /// The longest wait, in seconds, that the backend may ask for.
    package var askedCap: Double
    /// How many seconds the backend asked for at the last retry; nil when it asked for no wait.
    package private(set) var asked: Double?
    /// Consecutive failed attempts.
    package private(set) var attempt = 0
    /// Whether a new token was requested since the last success.
    package private(set) var hasRefreshedToken = false
    /// Consecutive conflicts.
    private var conflicts = 0

    /// The number of consecutive failures that one of the elements may have caused.
    private var failures = 0

    /// Up to this many conflicts are taken to mean that another request is still in progress; more count as a refusal.
    private static let conflictLimit = 3
    /// Up to this many failures are blamed on the destination alone.
    private static let failureLimit = 3

    package init(
        base: Double = 1, cap: Double = 900, refusedConnectionCap: Double = .infinity, askedCap: Double = 900
    ) {
        (self.refusedConnectionCap, self.base, self.cap, self.askedCap) = (refusedConnectionCap, base, cap, askedCap)
    }

    package enum Outcome: Sendable, Equatable {
        case taken
        /// The request is refused as a whole: it is too large, or something in it can't be stored. The reason is stored
        /// if the request's only element becomes a dead letter.
        case refused(String)
        /// The request should be sent again later, after the requested time, if any.
        case later(AskedWait? = nil)
        /// The request conflicts either with a request in progress, which is temporary, or with stored data, which is
        /// permanent. The reason is stored if an element becomes a dead letter.
        case conflict(String)
        /// The request failed at the destination, perhaps only for a while, perhaps because of one of the elements.
        case failing
        /// Our credentials are refused. `isFinal`: different credentials wouldn't help either.
        case refusesToken(isFinal: Bool, Pause)
        case needsPerson(Pause)
        /// There was no answer, or it proves nothing or isn't from the destination: nothing counts as accepted or
        /// refused.
        case unproven
        /// Nothing listens at the address: nothing counts as accepted or refused.
        case refusesConnection
    }

    package enum Action: Sendable, Equatable {
        /// Everything is delivered, except the elements that the answer names as refused, which become dead letters.
        case done
        /// Send the same request again after this many seconds.
        case retry(after: Double)
        /// Fetch the token again, then send the same request at once.
        case refreshToken
        /// Only a person can help: keep everything, report it, and try again now and then.
        case pause(Pause)
        /// Send the two halves separately.
        case split
        /// After this many seconds, send the two halves separately, or send a single element after all others. That
        /// way, an element that is the cause holds up nothing else that was fetched with it.
        case isolate(after: Double)
        /// This single element can't be delivered: make it a dead letter with the reason, and go on with the next.
        case deadLetter(String)
    }

    /// A problem that only a person can fix.
    package struct Pause: Sendable, Equatable {
        /// What to do now, worded as the end of a sentence that says what happened.
        package var remedy: String

        package init(remedy: String) { self.remedy = remedy }
    }

    /// - Parameters:
    ///   - elements: the number of elements that the request contained.
    ///   - now: the time, needed for a Retry-After that is a date.
    package mutating func action(
        after outcome: Outcome, elements: Int, now: Instant, using generator: inout some RandomNumberGenerator
    ) -> Action {
        asked = nil
        let action = decide(outcome, elements: elements, now: now, using: &generator)
        switch action {
        case .retry, .isolate:
            attempt += 1
            if case .conflict = outcome { conflicts += 1 } else { conflicts = 0 }
            if case .failing = outcome { failures += 1 } else { failures = 0 }
        case .refreshToken: hasRefreshedToken = true
        case .pause: break
        case .done, .split, .deadLetter: succeeded()
        }
        return action
    }

    /// The backend has given a definite answer, so the counts are reset for the next request.
    package mutating func succeeded() {
        attempt = 0
        hasRefreshedToken = false
        conflicts = 0
        failures = 0
        asked = nil
    }

    private mutating func decide(
        _ outcome: Outcome, elements: Int, now: Instant, using generator: inout some RandomNumberGenerator
    ) -> Action {
        switch outcome {
        case .taken: return .done
        case .unproven: return .retry(after: jitter(using: &generator))
        case .refusesConnection: return .retry(after: jitter(limit: refusedConnectionCap, using: &generator))
        case .refused(let reason): return elements > 1 ? .split : .deadLetter(reason)
        case .conflict(let reason):
            guard conflicts >= Self.conflictLimit else { return .retry(after: jitter(using: &generator)) }
            return elements > 1 ? .split : .deadLetter(reason)
        case .failing:
            let wait = jitter(using: &generator)
            return failures >= Self.failureLimit ? .isolate(after: wait) : .retry(after: wait)
        case .later(let wait):
            asked = wait?.seconds(from: now)
            return .retry(after: asked.map { min($0, askedCap) } ?? jitter(using: &generator))
        case .refusesToken(let isFinal, let pause):
            return isFinal || hasRefreshedToken ? .pause(pause) : .refreshToken
        case .needsPerson(let pause): return .pause(pause)
        }
    }

    private func jitter(limit: Double = .infinity, using generator: inout some RandomNumberGenerator) -> Double {
        min(limit, BackOff(base, upTo: cap, failures: attempt).wait) * BackOff<Double>.jitter(using: &generator)
    }
}
