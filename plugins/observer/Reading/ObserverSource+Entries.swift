import Changelog
import HealthModel
import HealthStore
import Protocol

extension ObserverSource {
    private static let entryLimit = 500
    /// A note may have 1,000 bytes.
    private static let entriesPerPage = 40

    /// A person's own types and newest events: only for that person's own tools.
    func entries(_ query: EntriesQuery, _ asking: Asking, _ page: (EntriesPage, Bool) -> Void) throws {
        try access.refuse(asking.consumer, what: "what a person entered")
        guard try OwnTables.exist(in: database) else { return page(EntriesPage(ownTypes: [], events: []), true) }
        let types = try OwnTables.types(of: query.user, in: database)
        let events = try OwnTables.events(
            of: query.user, beginning: query.event ?? "", limit: Self.entryLimit, in: database
        ).compactMap { try OwnTables.read($0, of: query.user, in: store)?.row }
            .sorted { ($0.start, $0.id) > ($1.start, $1.id) }
        for first in stride(from: 0, to: max(1, events.count), by: Self.entriesPerPage) {
            let part = Array(events.dropFirst(first).prefix(Self.entriesPerPage))
            page(EntriesPage(ownTypes: first == 0 ? types : [], events: part), first + part.count >= events.count)
        }
    }
}
