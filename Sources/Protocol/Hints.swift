import HealthModel

/// Announces that a store of figures, events, summaries or alerts has advanced.
package struct Hint: Codable, Sendable, Equatable {
    package var head: StoreHead
    /// The store's head before these changes: what the hint announces lies after it.
    @IfReadable package var after: SequenceNumber?
    /// The first changes, for people who watch: nothing depends on them. nil if the topic's rows aren't listed.
    @IfReadable package var changed: [HintedChange]?
    /// How many further rows changed.
    @IfReadable package var more: Int?

    package init(head: StoreHead) { self.head = head }
}

/// Announces on `observed.<type>` that a type has changed: the counterpart of an observer query's update handler.
package struct Observed: Codable, Sendable, Equatable {
    package var head: StoreHead
    /// HealthKit's identifier.
    package var type: String
    /// The latest sequence of this type; at most the head's.
    package var sequence: SequenceNumber

    package init(head: StoreHead, type: String, sequence: SequenceNumber) {
        (self.head, self.type, self.sequence) = (head, type, sequence)
    }

    package var topic: String { "observed.\(type)" }
}

/// Says to a consumer, on `sync.<consumer>`, how far it may pull from the observer.
package struct Release: Codable, Sendable, Equatable {
    /// The observer's.
    package var head: StoreHead
    package var released: AnchorVector
    /// This consumer's types that are switched off: they don't hold back a frontier.
    @IfAny package var off: [String]
    /// The current chunk of a historical sync.
    package var replay: Replay?

    package init(head: StoreHead, released: AnchorVector, off: [String] = [], replay: Replay? = nil) {
        (self.head, self.released, self.off, self.replay) = (head, released, off, replay)
    }

    package static func topic(_ consumer: String) -> String { "sync.\(consumer)" }
}

/// Days to compute and deliver again. A replay is done only once per id.
package struct Replay: Codable, Sendable, Equatable {
    package var id: String
    /// Local dates, both included.
    package var from: String
    package var through: String
    /// For each user, the instants that bound these days: `[from, to]`.
    @IfAny package var users: [String: [Instant]]

    package init(id: String, from: String, through: String, users: [String: [Instant]]) {
        (self.id, self.from, self.through, self.users) = (id, from, through, users)
    }
}

/// A consumer's answer to the observer's fires, on `acknowledged.<observer>`: the counterpart of calling an observer
/// query's completion handler.
package struct Acknowledged: Codable, Sendable, Equatable {
    package var consumer: String
    /// For each type, the sequence of the latest fire.
    package var types: [String: SequenceNumber]

    package init(consumer: String, types: [String: SequenceNumber]) { (self.consumer, self.types) = (consumer, types) }

    package static func topic(_ observer: String) -> String { "acknowledged.\(observer)" }
}

/// On a sealed bus each process repeatedly sends the hub its subscriptions: topic prefixes.
package struct WantedTopics: Codable, Sendable, Equatable {
    package var topics: [String]

    package init(topics: [String]) { self.topics = topics }
}
