import BackgroundDelivery
import HealthModel

/// What an uploader says beside where it stands.
public struct UploaderDetails: Codable, Sendable, Equatable {
    /// How long samples of a metric took from their end to the backend.
    public struct Delay: Codable, Sendable, Equatable {
        public var count: Int64
        /// Seconds, as `p95`; nil while nothing was counted.
        @OrNull public var median: Double?
        @OrNull public var p95: Double?

        public init(count: Int64, median: Double?, p95: Double?) {
            self.count = count
            self.median = median
            self.p95 = p95
        }
    }

    /// The same since the process began, in buckets that never fall.
    public struct DelayBuckets: Codable, Sendable, Equatable {
        public struct Counts: Codable, Sendable, Equatable {
            /// One more than there are bounds.
            public var counts: [Int64]
            /// Seconds.
            public var sum: Double

            public init(counts: [Int64], sum: Double) {
                self.counts = counts
                self.sum = sum
            }
        }

        /// Seconds.
        public var bounds: [Int64]
        public var metrics: [String: Counts]

        public init(bounds: [Int64], metrics: [String: Counts]) {
            self.bounds = bounds
            self.metrics = metrics
        }
    }

    /// What became of the elements that were accepted.
    public struct Answers: Codable, Sendable, Equatable {
        public var created: Int64
        public var updated: Int64
        public var known: Int64

        public init(created: Int64, updated: Int64, known: Int64) {
            self.created = created
            self.updated = updated
            self.known = known
        }
    }

    /// What is known of the backend.
    public struct Backend: Codable, Sendable, Equatable {
        /// Why what it answers counts as acceptance.
        public enum Acceptance: String, Codable, Sendable {
            /// It says what it holds, and that has been compared.
            case proven
            /// It says nothing of what it holds.
            case trust
            case unknown
        }

        public enum Result: String, Codable, Sendable {
            /// It holds at least what it said it took.
            case complete
            /// It lacked some: everything is delivered again.
            case redelivered
            /// It says nothing of what it holds.
            case trust
        }

        public var acceptance: Acceptance
        /// Since the process began.
        public var isCompared: Bool
        @OrNull public var compared: Instant?
        @OrNull public var result: Result?
        /// Elements at least that it had lost, where that can be told.
        @OrNull public var missing: Int64?
        /// The id of the last `control-check` that is answered.
        @OrNull public var check: String?
        /// It can't be compared at present.
        @OrNull public var why: String?

        public init(
            acceptance: Acceptance, isCompared: Bool, compared: Instant?, result: Result?, missing: Int64?,
            check: String?, why: String?
        ) {
            self.acceptance = acceptance
            self.isCompared = isCompared
            self.compared = compared
            self.result = result
            self.missing = missing
            self.check = check
            self.why = why
        }
    }

    public var deadLetters: Int64
    /// Given up by a person.
    public var droppedLetters: Int64
    /// Elements by metric.
    public var delivered: [String: Int64]
    public var lastDelivered: [String: Instant]
    public var delays: [String: Delay]
    public var delayBuckets: DelayBuckets
    public var answers: Answers
    @OrNull public var blocked: String?
    /// The backend asked for that.
    @OrNull public var waitsUntil: Instant?
    /// Elements that were refused alone, where the backend may be the cause.
    public var held: Int
    public var backend: Backend
    /// Only a person can mend what blocks.
    public var paused: Bool
    @OrNull public var path: NetworkPath?
    /// Deliveries under way.
    public var waiting: Int

    public init(
        deadLetters: Int64, droppedLetters: Int64, delivered: [String: Int64], lastDelivered: [String: Instant],
        delays: [String: Delay], delayBuckets: DelayBuckets, answers: Answers, blocked: String?, waitsUntil: Instant?,
        held: Int, backend: Backend, paused: Bool, path: NetworkPath?, waiting: Int
    ) {
        self.deadLetters = deadLetters
        self.droppedLetters = droppedLetters
        self.delivered = delivered
        self.lastDelivered = lastDelivered
        self.delays = delays
        self.delayBuckets = delayBuckets
        self.answers = answers
        self.blocked = blocked
        self.waitsUntil = waitsUntil
        self.held = held
        self.backend = backend
        self.paused = paused
        self.path = path
        self.waiting = waiting
    }
}

/// What a notifier says beside where it stands.
public struct NotifierDetails: Codable, Sendable, Equatable {
    public var told: Int64
    public var givenUp: Int64
    @OrNull public var blocked: String?
    public var pending: Int

    public init(told: Int64, givenUp: Int64, blocked: String?, pending: Int) {
        self.told = told
        self.givenUp = givenUp
        self.blocked = blocked
        self.pending = pending
    }
}

/// What the reference backend says beside that it is there.
public struct BackendDetails: Codable, Sendable, Equatable {
    public var port: Int

    public init(port: Int) { self.port = port }
}
