import HealthModel

/// What a pull asks a producer for. On the bus, the query's name is that of the case (`newest` is a form of `moments`),
/// and its parameters are members beside that name. `docs/protocol.md` says which process answers which query.
package enum Query: Sendable, Equatable {
    /// Any stage: rows of its keyed changelog within the window, for topics with this prefix and days in this range
    /// (since 1970).
    case changes(topic: String? = nil, days: ClosedRange<Int>? = nil)
    /// Any stage: the rows of its keyed changelog for one day (since 1970), for topics with this prefix.
    case day(user: String, day: Int, topic: String? = nil)
    /// Any stage: when the sequences in a range were committed.
    case moments(from: SequenceNumber, to: SequenceNumber)
    /// Any stage: the latest sequence before a time.
    case newest(before: Instant)
    /// The observer: samples within the window, including tombstones. The answering side checks the predicate.
    case samples(TypeChoice, predicate: Value? = nil)
    /// The observer: which stretches of time are touched by changes within the window.
    case spans(TypeChoice)
    /// The observer: the samples of a stretch of time, as of a sequence.
    case slice(SliceRequest)
    /// The observer: zone timelines that changed within the window.
    case zones
    /// The observer: a user's timeline, and where each entry comes from.
    case timeline(user: String)
    /// The observer: the state of one file that was handed over, or of the last hundred.
    case imports(id: String? = nil)
    /// A tool that hands over a file: its bytes from an offset on.
    case file(id: String, offset: Int64)
    /// The observer: the device, and which consumers are registered for what.
    case delivery
    /// The observer: what it has, by user and type.
    case types
    /// The observer: for each type, which dates have samples, and which samples came late; `nights` gives the hour at
    /// which a night ends, by type.
    case completeness(user: String?, nights: [String: Int64], after: TypePosition? = nil)
    /// The observer: which sources its samples have, by user and type, and which of them a person has left out.
    case sources(user: String? = nil, after: SequenceNumber? = nil)
    /// The observer: Apple's own figures for a user's dates, both included.
    case summaries(user: String, from: String, to: String)
    /// The observer: where one sample is, by its id or HealthKit's UUID.
    case sample(String)
    /// The observer: a user's quarantine, by reason.
    case quarantine(user: String)
    /// The observer: the quarantine, entry by entry; with `record`, the contents of the first numbered entry.
    case quarantined(MendSelection, user: String? = nil, record: Bool? = nil, after: Int64? = nil)
    /// The observer: a person's own types, and the newest events that they entered; with `event`, only those whose id
    /// equals it or begins with it.
    case entries(user: String, event: String? = nil)
    /// The observer: files that it keeps beside the samples, in numerical order; without a user, those of all users.
    case documents(user: String? = nil, after: Int64? = nil)
    /// The observer: the content of a document from an offset on.
    case document(Int64, offset: Int64)
    /// Any stage, asked by a destination's: give rows versions that the destination doesn't hold yet. The answer is an
    /// empty page; the head shows when it is done.
    case renew(Renewal)
    /// A destination: its last comparison with what it delivered, a person at a time.
    case proof(after: Int64? = nil)
    /// An uploader: its dead letters; with `dropped`, instead, the elements whose letter a person dropped.
    case letters(MendSelection, dropped: Bool? = nil, after: Int64? = nil)
    /// An uploader: elements that its destination has with other content under the same version.
    case conflicts(after: Int64? = nil)
    /// A name that this release doesn't know.
    case other(String)
}

/// Which sample types a request asks for.
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

/// A slice: all samples in [from, to) as of a sequence.
package struct SliceRequest: Codable, Sendable, Equatable {
    package var user: String
    package var types: TypeChoice
    package var asOf: AnchorVector
    package var from: Instant
    package var to: Instant
    /// Types whose metadata, payload, created and uuid are wanted.
    package var detailed: DetailedTypes?
    /// Types of which only the payload is wanted, for samples that have one.
    package var payloads: [String]?
    /// Maps a type to another: only those samples of the first that overlap one of the second are returned.
    package var during: [String: String]?
    /// Taken from the previous answer, to continue after it.
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

/// Where an answer continues: after the sample that begins there and has this id.
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

/// Where an answer about completeness continues: after this type of this user. Both are empty at the beginning.
package struct TypePosition: Codable, Sendable, Equatable {
    package var user: String
    package var type: String

    package init(user: String, type: String) {
        self.user = user
        self.type = type
    }
}
