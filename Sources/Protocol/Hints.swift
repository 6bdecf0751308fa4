import HealthModel

/// A store has moved: of figures, events, summaries and alerts.
public struct Hint: Codable, Sendable, Equatable {
    public var head: StoreHead

    public init(head: StoreHead) { self.head = head }
}

/// A type has changed, on `observed.<type>`: an observer query's update handler.
public struct Observed: Codable, Sendable, Equatable {
    public var head: StoreHead
    /// HealthKit's identifier.
    public var type: String
    /// The newest of this type, at most the head's.
    public var sequence: Int64

    public init(head: StoreHead, type: String, sequence: Int64) {
        self.head = head
        self.type = type
        self.sequence = sequence
    }

    public var topic: String { "observed.\(type)" }
}

/// How far a consumer may pull from the observer, on `sync.<consumer>`.
public struct Release: Codable, Sendable, Equatable {
    /// The observer's.
    public var head: StoreHead
    public var released: AnchorVector
    /// Types of this consumer that are switched off: they hold no frontier.
    @IfAny public var off: [String]
    /// The chunk of a historical sync that is under way.
    public var replay: Replay?

    public init(head: StoreHead, released: AnchorVector, off: [String] = [], replay: Replay? = nil) {
        self.head = head
        self.released = released
        self.off = off
        self.replay = replay
    }

    public static func topic(_ consumer: String) -> String { "sync.\(consumer)" }
}

/// Days that are to be computed and delivered once more. What has been done for an id is done.
public struct Replay: Codable, Sendable, Equatable {
    public var id: String
    /// Local dates, both included.
    public var from: String
    public var through: String
    /// By user the instants of these days: `[from, to]`.
    @IfAny public var users: [String: [Instant]]

    public init(id: String, from: String, through: String, users: [String: [Instant]]) {
        self.id = id
        self.from = from
        self.through = through
        self.users = users
    }
}

/// A consumer answers the observer's fires, on `acknowledged.<observer>`: the completion handlers of an observer query.
public struct Acknowledged: Codable, Sendable, Equatable {
    public var consumer: String
    /// By type the sequence of the newest fire.
    public var types: [String: Int64]

    public init(consumer: String, types: [String: Int64]) {
        self.consumer = consumer
        self.types = types
    }

    public static func topic(_ observer: String) -> String { "acknowledged.\(observer)" }
}
