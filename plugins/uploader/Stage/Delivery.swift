import Changelog
import HealthModel
import PluginKit

/// One fetched set of pages on its way to the backend: the requests that it makes, and which of them are settled.
struct Delivery {
    /// Elements of one kind, of one user, for one path.
    struct Group {
        var metric: UploadMetric
        var user: String
        var content: Content
        var batch: UploadBatch
    }

    enum Content {
        case samples(SamplePage)
        /// Documents and tombstones, in order of their change.
        case workouts([Document])
        case nights([Document])
        case days([Document])
    }

    struct Document {
        var id: String
        var version: Int64
        /// nil is a tombstone.
        var body: Value?
    }

    let upstream: String
    /// What is consumed once it is done; nil for what is delivered once more, which moves no anchor.
    let fetched: Upstream.Fetched?
    var groups: [Group]
    /// The request under way, if any.
    var effect: Int64?

    var isDone: Bool { groups.allSatisfy { $0.batch.next == nil } }

    /// The group whose next part is to be sent.
    var nextGroup: Int? { groups.firstIndex { $0.batch.next != nil } }
}

extension Delivery.Group {
    /// The body of a request with these elements.
    func encode(_ part: Range<Int>, deviceId: String, syncedAt: Instant) -> [UInt8] {
        var body: [UInt8] = []
        func documents(_ all: [Delivery.Document]) -> ([Value], [UploadEncoding.Deletion]) {
            let some = all[part]
            return (
                some.compactMap { document in
                    guard var members = document.body?.object else { return nil }
                    members["version"] = .integer(document.version)
                    return .object(members)
                }, some.filter { $0.body == nil }.map { .init(id: $0.id, version: $0.version) }
            )
        }
        switch content {
        case .samples(let page):
            body.reserveCapacity(part.count * 400)
            UploadEncoding.samples(
                page: page, rows: part, user: user, deviceId: deviceId, syncedAt: syncedAt, into: &body)
        case .workouts(let all):
            let (alive, deleted) = documents(all)
            UploadEncoding.workouts(
                alive, deleted: deleted, user: user, deviceId: deviceId, syncedAt: syncedAt, into: &body)
        case .nights(let all):
            let (alive, deleted) = documents(all)
            UploadEncoding.nights(
                alive, deleted: deleted, user: user, deviceId: deviceId, syncedAt: syncedAt, into: &body)
        case .days(let all):
            let (alive, deleted) = documents(all)
            UploadEncoding.daily(
                alive, deleted: deleted, user: user, deviceId: deviceId, syncedAt: syncedAt, into: &body)
        }
        return body
    }

    /// When what some elements tell of ended; tombstones and days tell of nothing that has an end.
    func ends(_ part: Range<Int>) -> [Instant] {
        switch content {
        case .samples(let page): part.filter { !page.flags[$0].contains(.deleted) }.map { page.end[$0] }
        case .workouts(let all): all[part].compactMap { $0.body?["endDate"].string.flatMap { InstantText.parse($0) } }
        case .nights(let all): all[part].compactMap { $0.body?["end"].string.flatMap { InstantText.parse($0) } }
        case .days: []
        }
    }

    /// Id and version of an element, for a dead letter.
    func element(_ index: Int) -> (id: String, version: Int64) {
        switch content {
        case .samples(let page): (page.ids[index].description, page.sequence[index])
        case .workouts(let all), .nights(let all), .days(let all): (all[index].id, all[index].version)
        }
    }
}
