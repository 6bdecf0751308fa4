import BackgroundDelivery
import HealthModel

/// What the hub says beside where it stands.
public struct HubDetails: Codable, Sendable, Equatable {
    public var forwarded: Int
    /// Of a sealed bus: handshakes that led to no connection.
    public var refused: Int?
    /// Of a sealed bus: what its sender had no right to.
    public var denied: Int?

    public init(forwarded: Int, refused: Int? = nil, denied: Int? = nil) {
        self.forwarded = forwarded
        self.refused = refused
        self.denied = denied
    }
}

/// What the observer says beside where it stands.
public struct ObserverDetails: Codable, Sendable, Equatable {
    /// The file that is being read.
    public struct Reading: Codable, Sendable, Equatable {
        public var id: String
        public var bytesRead: Int64
        public var bytesTotal: Int64
        public var records: Int64

        public init(id: String, bytesRead: Int64, bytesTotal: Int64, records: Int64) {
            self.id = id
            self.bytesRead = bytesRead
            self.bytesTotal = bytesTotal
            self.records = records
        }
    }

    /// While true no day turns final.
    public var importOpen: Bool
    public var quarantined: Int64
    public var reading: Reading?
    /// When it isn't an active, unlocked phone on power.
    public var device: DeviceState?
    /// Consumers, by the launch they registered with.
    @IfAny public var registered: [String: Int64] = [:]
    /// Consumers, with why and what to do.
    @IfAny public var refused: [String: String] = [:]
    /// How far each type has been fired; nil: up to the head.
    public var fired: AnchorVector?
    /// Types that aren't observed.
    @IfAny public var off: [String] = []
    /// Consumers that didn't acknowledge too often.
    @IfAny public var stopped: [String] = []

    public init(importOpen: Bool, quarantined: Int64) {
        self.importOpen = importOpen
        self.quarantined = quarantined
    }

    private enum CodingKeys: String, CodingKey {
        case importOpen, quarantined, device, registered, refused, fired, off, stopped
        case reading = "import"
    }
}

/// What the debouncer says beside where it stands.
public struct DebouncerDetails: Codable, Sendable, Equatable {
    /// The sync that was asked for last, and what became of it.
    public struct Manual: Codable, Sendable, Equatable {
        public var id: String
        /// Why nothing was released.
        @OrNull public var problem: String?
        /// The round that tells when everything is consumed.
        public var round: Int64?
        /// Once that has ended.
        public var result: RoundResult?

        public init(id: String, problem: String? = nil, round: Int64? = nil, result: RoundResult? = nil) {
            self.id = id
            self.problem = problem
            self.round = round
            self.result = result
        }
    }

    /// The historical sync under way.
    public struct History: Codable, Sendable, Equatable {
        public var number: Int64
        /// Local dates, both included.
        public var from: String
        public var through: String
        /// Chunks.
        public var done: Int
        public var chunks: Int
        public var began: Instant

        public init(number: Int64, from: String, through: String, done: Int, chunks: Int, began: Instant) {
            self.number = number
            self.from = from
            self.through = through
            self.done = done
            self.chunks = chunks
            self.began = began
        }
    }

    /// Types whose window is open, or that wait for time.
    public var pending: Int
    public var manual: Manual?
    public var history: History?

    public init(pending: Int, manual: Manual? = nil, history: History? = nil) {
        self.pending = pending
        self.manual = manual
        self.history = history
    }
}

/// What became of a release.
public struct RoundResult: Codable, Sendable, Equatable {
    public var number: Int64
    /// What opened it: "fire", "sync", a task's identifier.
    public var reason: String
    public var began: Instant
    /// Microseconds, as what each took.
    public var duration: Instant
    public var succeeded: [String: Instant]
    /// Why each failed.
    public var failed: [String: String]

    public init(
        number: Int64, reason: String, began: Instant, duration: Instant, succeeded: [String: Instant],
        failed: [String: String]
    ) {
        self.number = number
        self.reason = reason
        self.began = began
        self.duration = duration
        self.succeeded = succeeded
        self.failed = failed
    }
}
