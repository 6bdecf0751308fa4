import HealthModel

/// The observer: where one sample is, by its id or HealthKit's UUID.
package struct SampleQuery: Query {
    package typealias Answer = SampleWhereaboutsPage
    package static let name = "sample"

    package var sample: String
}

extension Query where Self == SampleQuery { package static func sample(_ id: String) -> Self { Self(sample: id) } }

/// The location of one sample in the store; null if none has that id.
package struct SampleWhereaboutsPage: PageContent, Equatable {
    @OrNull package var sample: SampleWhereabouts?

    package init(sample: SampleWhereabouts?) { self.sample = sample }
}

/// Where a sample is in the store, and since when; nothing about its value.
package struct SampleWhereabouts: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable { case alive, absent, deleted, quarantined }

    package var id: String
    /// HealthKit's UUID.
    @OrNull package var uuid: String?
    package var user: String
    package var type: String
    /// The sequences of its latest change and of the one that added it.
    package var sequence: SequenceNumber
    package var born: SequenceNumber
    package var start: Instant
    package var end: Instant
    package var state: State
    /// When it was first and last committed, if known.
    @OrNull package var stored: Instant?
    @OrNull package var changed: Instant?

    package init(
        id: String, uuid: String?, user: String, type: String, sequence: SequenceNumber, born: SequenceNumber,
        start: Instant,
        end: Instant, state: State, stored: Instant?, changed: Instant?
    ) {
        (self.id, self.uuid, self.user, self.type, self.sequence, self.born) = (id, uuid, user, type, sequence, born)
        (self.start, self.end, self.state, self.stored, self.changed) = (start, end, state, stored, changed)
    }
}
