import HealthModel

/// The samples of a window, oldest change first.
package struct SamplesPage: PageContent {
    package var samples: SamplePage
    package var users: [String]
    /// The owner of each sample: an index into `users`.
    @Packed package var user: [Int32]
    package var from: SequenceNumber?
    package var through: SequenceNumber?
    /// Whether the samples are nothing new to the person: a first read, a backfill, or a person's first file.
    package var bulk: Bool?

    package init(
        samples: SamplePage, users: [String], user: [Int32], from: SequenceNumber? = nil,
        through: SequenceNumber? = nil,
        bulk: Bool? = nil
    ) {
        self.samples = samples
        self.users = users
        self.user = user
        self.from = from
        self.through = through
        self.bulk = bulk
    }

    /// A page with only these rows, without the names that only other rows use; users count as names, too. If these are
    /// all the rows, the page is returned unchanged (`SamplePage.keeping`).
    /// - Parameter rows: in ascending order, each only once.
    package func keeping(_ rows: [Int]) -> SamplesPage {
        guard rows.count < samples.count else { return self }
        var page = self
        page.samples = samples.keeping(rows)
        page.user = rows.map { user[$0] }
        page.users = page.user.renumber(count: users.count).map { users[$0] }
        return page
    }

    /// Whether every sample's owner is named.
    package var isOwned: Bool {
        user.count == samples.count && user.allSatisfy { users.indices.contains(Int($0)) }
    }
}

/// The samples of a slice, in canonical order.
package struct SlicePage: PageContent {
    package var samples: SamplePage
    /// Set on the last part if there are more rows.
    package var `continue`: SlicePlace?

    package init(samples: SamplePage, continue place: SlicePlace? = nil) {
        self.samples = samples
        `continue` = place
    }
}

/// Which stretches of time the changes in a window touch, with everything needed to turn them into days.
package struct SpansPage: PageContent, Equatable {
    package var users: [String]
    /// Columns with one element per span: its owner (index into `users`), and its start and end in microseconds since
    /// 1970.
    @Packed package var user: [Int32]
    @Packed package var start: [Int64]
    @Packed package var end: [Int64]
    /// By user, a timeline in the form that `ZoneTimeline` encodes: for these users, and for those whose timeline
    /// changed in the window.
    @IfReadable package var zones: [String: Value]?
    /// Likewise by user: what is known about that person.
    @IfReadable package var characteristics: [String: Value]?
    /// How many changes to samples the spans cover.
    package var added: Int?
    package var deleted: Int?
    package var from: SequenceNumber
    package var through: SequenceNumber
    package var bulk: Bool?

    package init(
        users: [String], user: [Int32], start: [Int64], end: [Int64], zones: [String: Value],
        characteristics: [String: Value],
        added: Int, deleted: Int, from: SequenceNumber = .beginning, through: SequenceNumber = .beginning
    ) {
        self.users = users
        self.user = user
        self.start = start
        self.end = end
        self.zones = zones
        self.characteristics = characteristics
        self.added = added
        self.deleted = deleted
        self.from = from
        self.through = through
    }

    /// Whether the columns fit together.
    package var isWhole: Bool {
        user.count == start.count && start.count == end.count
            && user.allSatisfy { users.indices.contains(Int($0)) }
    }
}

/// The members of a page of changes, of whatever kind, that are needed to count its changes.
package struct CountedPage: PageContent {
    package struct Row: Codable, Sendable { package var deleted: Bool? }
    package struct Flags: Codable, Sendable { @Packed package var flags: [UInt8] }

    @IfReadable package var rows: [Row]?
    @IfReadable package var samples: Flags?
    @IfReadable package var added: Int?
    @IfReadable package var deleted: Int?
}

extension SamplePage: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(wireValue: try decoder.singleValueContainer().decode(Value.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wireValue)
    }
}
