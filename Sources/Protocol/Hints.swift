import HealthModel

/// A store has moved: of figures, events, summaries and alerts.
package struct Hint: Codable, Sendable, Equatable {
    package var head: StoreHead

    package init(head: StoreHead) { self.head = head }
}

/// A type has changed, on `observed.<type>`: an observer query's update handler.
package struct Observed: Codable, Sendable, Equatable {
    package var head: StoreHead
    /// HealthKit's identifier.
    package var type: String
    /// The newest of this type, at most the head's.
    package var sequence: SequenceNumber

    package init(head: StoreHead, type: String, sequence: SequenceNumber) {
        self.head = head
        self.type = type
        self.sequence = sequence
    }

    package var topic: String { "observed.\(type)" }
}

/// How far a consumer may pull from the observer, on `sync.<consumer>`.
package struct Release: Codable, Sendable, Equatable {
    /// The observer's.
    package var head: StoreHead
    package var released: AnchorVector
    /// Types of this consumer that are switched off: they hold no frontier.
    @IfAny package var off: [String]
    /// The chunk of a historical sync that is under way.
    package var replay: Replay?

    package init(head: StoreHead, released: AnchorVector, off: [String] = [], replay: Replay? = nil) {
        self.head = head
        self.released = released
        self.off = off
        self.replay = replay
    }

    package static func topic(_ consumer: String) -> String { "sync.\(consumer)" }
}

/// Days that are to be computed and delivered once more. What has been done for an id is done.
package struct Replay: Codable, Sendable, Equatable {
    package var id: String
    /// Local dates, both included.
    package var from: String
    package var through: String
    /// By user the instants of these days: `[from, to]`.
    @IfAny package var users: [String: [Instant]]

    package init(id: String, from: String, through: String, users: [String: [Instant]]) {
        self.id = id
        self.from = from
        self.through = through
        self.users = users
    }
}

/// A consumer answers the observer's fires, on `acknowledged.<observer>`: the completion handlers of an observer query.
package struct Acknowledged: Codable, Sendable, Equatable {
    package var consumer: String
    /// By type the sequence of the newest fire.
    package var types: [String: SequenceNumber]

    package init(consumer: String, types: [String: SequenceNumber]) {
        self.consumer = consumer
        self.types = types
    }

    package static func topic(_ observer: String) -> String { "acknowledged.\(observer)" }
}

/// On a sealed bus everyone tells the hub again and again all that they want to hear: what topics begin with.
package struct WantedTopics: Codable, Sendable, Equatable {
    package var topics: [String]

    package init(topics: [String]) { self.topics = topics }
}
