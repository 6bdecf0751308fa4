import HealthModel

/// What a pull asks a producer for: its name on the bus is the case's, its parameters are members beside it. `docs/protocol.md` says who
/// answers which.
package enum Query: Sendable, Equatable {
    /// Any stage: rows of its keyed changelog within the window, of topics that begin so, of days since 1970.
    case changes(topic: String? = nil, days: ClosedRange<Int>? = nil)
    /// Any stage: what its keyed changelog holds of one day (since 1970), of topics that begin so.
    case day(user: String, day: Int, topic: String? = nil)
    /// Any stage: when the sequences of a range were committed.
    case moments(from: SequenceNumber, to: SequenceNumber)
    /// Any stage: the newest sequence before a time.
    case newest(before: Instant)
    /// The observer: samples within the window, tombstones included. The predicate is checked by who answers.
    case samples(TypeChoice, predicate: Value? = nil)
    /// The observer: which stretches of time changes within the window touch.
    case spans(TypeChoice)
    /// The observer: the samples of a time as of a sequence.
    case slice(SliceRequest)
    /// The observer: zone timelines that changed within the window.
    case zones
    /// The observer: a user's timeline, and what each entry comes from.
    case timeline(user: String)
    /// The observer: what became of files handed over; of one, or of the last hundred.
    case imports(id: String? = nil)
    /// A tool that hands a file over: its bytes from there on.
    case file(id: String, offset: Int64)
    /// The observer: the device, and who is registered for what.
    case delivery
    /// The observer: what it holds, by user and type.
    case types
    /// The observer: by type, which dates have samples, and which came late; `nights` has by type the hour at which one ends.
    case completeness(user: String?, nights: [String: Int64], after: TypePosition? = nil)
    /// The observer: Apple's own figures of a user's dates, both included.
    case summaries(user: String, from: String, to: String)
    /// The observer: where one sample is, by its id or HealthKit's.
    case sample(String)
    /// The observer: what is quarantined of a user, by reason.
    case quarantine(user: String)
    /// The observer: what is quarantined, entry by entry; with `record` what the first of the numbers holds.
    case quarantined(MendSelection, user: String? = nil, record: Bool? = nil, after: Int64? = nil)
    /// The observer: files that it keeps beside the samples, by number; of everybody without a user.
    case documents(user: String? = nil, after: Int64? = nil)
    /// The observer: the content of one from there on.
    case document(Int64, offset: Int64)
    /// An uploader: its dead letters.
    case letters(MendSelection, after: Int64? = nil)
    /// A name that this release doesn't know.
    case other(String)
}

/// Which sample types are asked for.
package enum TypeChoice: Sendable, Equatable {
    case only([String])
    case allExcept([String])

    package func takes(_ type: String) -> Bool {
        switch self {
        case .only(let types): types.contains(type)
        case .allExcept(let types): !types.contains(type)
        }
    }
}

/// A slice: all samples of [from, to) as of a sequence.
package struct SliceRequest: Codable, Sendable, Equatable {
    package var user: String
    package var types: TypeChoice
    package var asOf: AnchorVector
    package var from: Instant
    package var to: Instant
    /// Types of which metadata, payload, created and uuid are wanted.
    package var detailed: DetailedTypes?
    /// Types of which the payload alone is wanted, of samples that have one.
    package var payloads: [String]?
    /// By type: only its samples that overlap one of this other type.
    package var during: [String: String]?
    /// From the answer before, to go on.
    @IfReadable package var `continue`: SlicePlace?
    package var predicate: Value?

    package init(
        user: String, types: TypeChoice, asOf: AnchorVector, from: Instant, to: Instant, detailed: DetailedTypes,
        payloads: [String] = [], during: [String: String] = [:], continue place: SlicePlace? = nil
    ) {
        self.user = user
        self.types = types
        self.asOf = asOf
        self.from = from
        self.to = to
        self.detailed = detailed
        self.payloads = payloads.isEmpty ? nil : payloads
        self.during = during.isEmpty ? nil : during
        `continue` = place
    }
}

/// Where an answer goes on: behind the sample that begins there and has this id.
package struct SlicePlace: Codable, Sendable, Equatable {
    package var start: Instant
    package var id: String

    package init(start: Instant, id: String) {
        self.start = start
        self.id = id
    }
}

/// A list of types, or a choice.
package enum DetailedTypes: Sendable, Equatable {
    case list([String])
    case choice(TypeChoice)
}

/// Where an answer about completeness goes on: behind this type of this user. Both are empty at the beginning.
package struct TypePosition: Codable, Sendable, Equatable {
    package var user: String
    package var type: String

    package init(user: String, type: String) {
        self.user = user
        self.type = type
    }
}
