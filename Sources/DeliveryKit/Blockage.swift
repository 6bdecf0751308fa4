import HealthModel

/// Why nothing is delivered at present, when the next attempt is, and what an answer changes about both. Pure.
package struct Blockage {
    private var policy: RetryPolicy
    private var generator: any RandomNumberGenerator
    /// Nothing is sent before this time.
    package private(set) var until = MonotonicTime.distantPast
    /// In words for people; nil if nothing is in the way.
    package private(set) var reason: String?
    /// Why the last attempt failed, without what happens next.
    private var failure: String?
    /// The wall-clock time of the next attempt, if the destination asked for a wait.
    package private(set) var waitsUntil: Instant?
    /// Whether only a person can help.
    package private(set) var isPaused = false
    /// The number of consecutive answers that proved nothing.
    private var unproven = 0
    private var refreshesToken = false

    package static let noPath = "there is no network path; delivery continues when there is one"
    /// How long to wait before the next attempt when only a person can fix what is wrong.
    private static let pause = Duration.seconds(30)
    /// An alert is raised after this many consecutive answers that prove nothing.
    private static let unprovenLimit = 3
    /// A request that isn't answered for this long is mentioned.
    private static let unansweredAfter = Duration.seconds(5)

    package init(_ policy: RetryPolicy, _ generator: any RandomNumberGenerator) {
        (self.policy, self.generator) = (policy, generator)
    }

    /// The longest wait, in seconds, that the destination may ask for.
    var askedCap: Double { policy.askedCap }
    /// Whether the last answers proved nothing.
    package var isDoubtful: Bool { unproven > 0 }

    /// The reason as a report shows it: while the next attempt gets no answer, the last failure isn't the reason any
    /// more.
    /// - Parameter sent: when the oldest request was sent that has no answer yet.
    package func reason(at now: Instant, unansweredSince sent: Instant?) -> String? {
        guard reason != nil, let failure, let sent, now - sent >= Self.unansweredAfter else { return reason }
        return "no answer yet to the request sent at \(InstantText.local(sent, now: now)); before that: \(failure)"
    }

    package mutating func action(
        after outcome: RetryPolicy.Outcome, elements: Int = 1, now: Instant
    ) -> RetryPolicy.Action {
        policy.action(after: outcome, elements: elements, now: now, using: &generator)
    }

    /// How many seconds to wait after elements were refused, when so many waits came before.
    package mutating func wait(afterWaits count: Int) -> Double {
        BackOff(policy.base, upTo: policy.cap, failures: count).wait * BackOff<Double>.jitter(using: &generator)
    }

    // MARK: What an answer changes

    /// How to go on after an action.
    package enum Step: Equatable { case wait(Double, String), pause(String), goOn }

    /// Takes the action that the policy has chosen, as far as it is about waiting.
    package mutating func take(
        _ action: RetryPolicy.Action, _ why: String, at time: MonotonicTime, _ now: Instant
    ) -> Step {
        switch action {
        case .retry(let seconds), .isolate(let seconds):
            until = time + .seconds(seconds)
            waitsUntil = policy.asked == nil ? nil : now + .seconds(seconds)
            reason =
                why + AskedWait.text(asked: policy.asked, own: seconds, now: now, longest: policy.askedCap)
            failure = why
            // Waiting helps now, whatever had to be fixed by a person before.
            isPaused = false
            return .wait(seconds, why)
        case .pause(let person): return pause(why + "; " + person.remedy, at: time)
        case .refreshToken: refreshesToken = true
        case .done, .split, .deadLetter: break
        }
        return .goOn
    }

    package mutating func pause(_ why: String, at time: MonotonicTime) -> Step {
        (reason, failure, isPaused, waitsUntil) = (why, why, true, nil)
        // The token may have been corrected, so it is read again.
        refreshesToken = true
        until = time + Self.pause
        return .pause(why)
    }

    /// Notes an answer that proves nothing; returns whether that is worth an alert by now.
    package mutating func doubts() -> Bool {
        unproven += 1
        return unproven >= Self.unprovenLimit
    }

    /// The answer is about the elements: an earlier failure isn't in the way, unless it is still being waited out.
    package mutating func isAnswered(at time: MonotonicTime) {
        guard time >= until else { return }
        (reason, waitsUntil, isPaused) = (nil, nil, false)
    }

    /// The destination gave a definite answer, so the policy's counts are reset before the next request.
    package mutating func goesOn() {
        policy.succeeded()
        // Anything that a person had to fix has been fixed.
        if isPaused { until = .distantPast }
        (reason, waitsUntil, isPaused, unproven) = (nil, nil, false, 0)
    }

    package mutating func tryNow() { until = .distantPast }

    package mutating func hears(hasPath: Bool) {
        if !hasPath { reason = Self.noPath } else if reason == Self.noPath { reason = nil }
    }

    /// Whether the next request has to read the token again; it is asked once for each request.
    package mutating func takeTokenRefresh() -> Bool {
        defer { refreshesToken = false }
        return refreshesToken
    }
}
