import Changelog
import HealthModel
import HealthStore
import Protocol

extension ObserverSource {
    /// Where one sample is in the store and since when it has been there, but not its value. `sample` is null if no
    /// sample has that id.
    func sample(_ query: SampleQuery, _ asking: Asking, _ page: (SampleWhereaboutsPage, Bool) -> Void) throws {
        try access.refresh(readsSamples: true, for: asking.consumer)
        guard let id = SampleID(query.sample) else {
            throw PullRefusal("a 'sample' request needs 'sample': an id of this store, or a HealthKit UUID")
        }
        guard let found = try store.sample(id), access.allows(found.type) else {
            return page(SampleWhereaboutsPage(sample: nil), true)
        }
        let known = try Moments.time(of: found.sequence, in: database)
        let first = try Moments.time(of: found.born, in: database)
        page(
            SampleWhereaboutsPage(
                sample: SampleWhereabouts(
                    id: found.id.description, uuid: found.uuid?.description, user: found.user, type: found.type,
                    sequence: found.sequence, born: found.born, start: found.start, end: found.end,
                    state: .init(rawValue: found.state) ?? .quarantined, stored: first, changed: known)), true)
    }
}
