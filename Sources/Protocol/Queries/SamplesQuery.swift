import HealthModel

/// The observer: samples within the window, including tombstones. The answering side checks the predicate.
package struct SamplesQuery: Query {
    package typealias Answer = SamplesPage
    package static let name = "samples"

    package var types: TypeChoice
    @IfReadable package var predicate: Value?
}

extension Query where Self == SamplesQuery {
    package static func samples(_ types: TypeChoice, predicate: Value? = nil) -> Self {
        Self(types: types, predicate: predicate)
    }
}

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
        (self.samples, self.users, self.user, self.from, self.through) = (samples, users, user, from, through)
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
