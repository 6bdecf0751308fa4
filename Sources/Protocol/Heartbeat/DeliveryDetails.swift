import BackgroundDelivery
import HealthModel

/// What an uploader reports besides its position.
package struct UploaderDetails: Codable, Sendable, Equatable {
    /// How long a metric's samples took to reach the backend after they ended.
    package struct Delay: Codable, Sendable, Equatable {
        package var count: Int64
        /// In seconds, as is `p95`; nil while nothing has been counted.
        @OrNull package var median: Double?
        @OrNull package var p95: Double?

        package init(count: Int64, median: Double?, p95: Double?) {
            (self.count, self.median, self.p95) = (count, median, p95)
        }
    }

    /// The same delays since the process began, in buckets; each delay is counted in one bucket only.
    package struct DelayBuckets: Codable, Sendable, Equatable {
        package struct Counts: Codable, Sendable, Equatable {
            /// One more element than `bounds`.
            package var counts: [Int64]
            /// Seconds.
            package var sum: Double

            package init(counts: [Int64], sum: Double) { (self.counts, self.sum) = (counts, sum) }
        }

        /// Seconds.
        package var bounds: [Int64]
        package var metrics: [String: Counts]

        package init(bounds: [Int64], metrics: [String: Counts]) { (self.bounds, self.metrics) = (bounds, metrics) }
    }

    /// The outcomes of the accepted elements.
    package struct Answers: Codable, Sendable, Equatable {
        package var created: Int64
        package var updated: Int64
        package var known: Int64

        package init(created: Int64, updated: Int64, known: Int64) {
            (self.created, self.updated, self.known) = (created, updated, known)
        }
    }

    /// What is known about the backend.
    package struct Backend: Codable, Sendable, Equatable {
        /// Why the backend's answers count as acceptance. `trust` includes one that doesn't say who it is.
        package enum Acceptance: String, Codable, Sendable {
            /// The backend says who it is: only its own answers count.
            case proven
            /// It doesn't report what it holds.
            case trust
            case unknown
        }

        package enum Result: String, Codable, Sendable {
            /// It holds at least everything it said it accepted.
            case complete
            /// It lacked some elements: everything is delivered again.
            case redelivered
            /// It doesn't report what it holds.
            case trust
        }

        package var acceptance: Acceptance
        /// Whether the backend has been compared since the process began.
        package var isCompared: Bool
        @OrNull package var compared: Instant?
        @OrNull package var result: Result?
        /// The minimum number of elements it had lost, if known.
        @OrNull package var missing: Int64?
        /// The id of the latest `control-check` that was answered.
        @OrNull package var check: String?
        /// Why it can't be compared at present.
        @OrNull package var why: String?
        /// About how many rows the comparison in progress, element by element, has read; nil if there is none.
        package var comparing: Int64?

        package init(
            acceptance: Acceptance, isCompared: Bool, compared: Instant?, result: Result?, missing: Int64?,
            check: String?, why: String?
        ) {
            (self.acceptance, self.isCompared, self.compared, self.result) = (acceptance, isCompared, compared, result)
            (self.missing, self.check, self.why) = (missing, check, why)
        }
    }

    package var deadLetters: Int64
    /// The number of dead letters that a person has dropped.
    package var droppedLetters: Int64
    /// Elements by metric.
    package var delivered: [String: Int64]
    package var lastDelivered: [String: Instant]
    package var delays: [String: Delay]
    package var delayBuckets: DelayBuckets
    package var answers: Answers
    @OrNull package var blocked: String?
    /// When delivery resumes, if the backend asked for a delay.
    @OrNull package var waitsUntil: Instant?
    /// How many elements were refused even when sent alone, although the backend may be the cause.
    package var held: Int
    package var backend: Backend
    /// Whether only a person can resolve what blocks delivery.
    package var paused: Bool
    /// The path to it; nil while that isn't known, and for a destination that looks for none.
    package var path: NetworkPath?
    /// Deliveries in progress.
    package var waiting: Int
    /// The number of samples older than `deliverSince`, which aren't sent; nil if that isn't set.
    package var keptLocal: Int64?
    /// The number of listed elements that the destination has with different content under the same version; nil for a
    /// destination that keeps no versions, and from a release that doesn't list them.
    package var conflicts: Int64?
    /// Where it delivers to, without user or password; nil if only the configuration says so.
    package var address: String?
    /// When what it holds was last compared, element by element; nil if it never was.
    package var proof: ProofSummary?
    /// When the backend last asked for a sync in an answer; nil if it hasn't since the process began.
    package var syncRequested: Instant?

    package init(
        deadLetters: Int64 = 0, droppedLetters: Int64 = 0, delivered: [String: Int64],
        lastDelivered: [String: Instant], delays: [String: Delay] = [:],
        delayBuckets: DelayBuckets = .init(bounds: [], metrics: [:]),
        answers: Answers = .init(created: 0, updated: 0, known: 0), blocked: String?, waitsUntil: Instant? = nil,
        held: Int = 0, backend: Backend, paused: Bool = false, path: NetworkPath? = nil, waiting: Int
    ) {
        (self.deadLetters, self.droppedLetters, self.delivered) = (deadLetters, droppedLetters, delivered)
        (self.lastDelivered, self.delays, self.delayBuckets) = (lastDelivered, delays, delayBuckets)
        (self.answers, self.blocked, self.waitsUntil, self.held) = (answers, blocked, waitsUntil, held)
        (self.backend, self.paused, self.path, self.waiting) = (backend, paused, path, waiting)
    }
}

/// Three members of `UploaderDetails`.
package struct UploaderStanding: Decodable, Sendable {
    package var waiting: Int?
    package var path: NetworkPath?
    package var syncRequested: Instant?
}

/// What a notifier reports besides its position.
package struct NotifierDetails: Codable, Sendable, Equatable {
    package var told: Int64
    package var givenUp: Int64
    @OrNull package var blocked: String?
    package var pending: Int

    package init(told: Int64, givenUp: Int64, blocked: String?, pending: Int) {
        (self.told, self.givenUp, self.blocked, self.pending) = (told, givenUp, blocked, pending)
    }
}

/// What the reference backend reports apart from its presence.
package struct BackendDetails: Codable, Sendable, Equatable {
    package var port: Int

    package init(port: Int) { self.port = port }
}
