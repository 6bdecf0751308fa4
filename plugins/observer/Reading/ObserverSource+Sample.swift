import Changelog
import HealthModel
import HealthStore
import Protocol

extension ObserverSource {
    /// Where one sample is in the store, and by when: no value of it. `sample` null: there is none of that id.
    func sample(_ request: Value, _ head: StoreHead, _ page: ([String: Value], Bool) -> Void) throws {
        guard let id = request["sample"].string.flatMap({ SampleID($0) }) else {
            throw PullRefusal("a 'sample' request needs 'sample': an id of this store, or a HealthKit UUID")
        }
        guard let found = try store.sample(id) else { return page(["sample": .null], true) }
        let known = try Moments.time(of: found.sequence, in: database)
        let first = try Moments.time(of: found.born, in: database)
        page(
            [
                "sample": [
                    "id": .string(found.id.description),
                    "uuid": found.uuid.map { .string($0.description) } ?? .null, "user": .string(found.user),
                    "type": .string(found.type), "sequence": .integer(found.sequence), "born": .integer(found.born),
                    "start": .integer(found.start), "end": .integer(found.end), "state": .string(found.state),
                    "stored": first.map { .integer($0) } ?? .null, "changed": known.map { .integer($0) } ?? .null,
                ]
            ], true)
    }
}
