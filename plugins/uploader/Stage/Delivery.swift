import Changelog
import HealthModel
import StageKit

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
    var sent: Sent?

    struct Sent {
        var effect: Int64
        var group: Int
        var part: Range<Int>
        /// What was known of the backend then.
        var seen: SeenBackend
    }

    var isDone: Bool { groups.allSatisfy { $0.batch.isSettled } }

    /// The group whose next part is to be sent; those of metrics that wait are left out.
    func nextGroup(besides waiting: Set<UploadMetric>) -> Int? {
        groups.firstIndex { $0.batch.next != nil && !waiting.contains($0.metric) }
    }
}

extension Delivery.Group {
    /// The body of a request with these elements.
    func encode(_ part: Range<Int>, deviceId: String, syncedAt: Instant) -> [UInt8] {
        var body: [UInt8] = []
        func documents(_ all: [Delivery.Document]) -> ([Value], [UploadEncoding.Deletion]) {
            let some = all[part]
            return (
                some.compactMap { document in
                    document.body.flatMap { UploadEncoding.versioned($0, document.version) }
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

    /// Which of some elements an answer's refusals are about, and how many of those are about none of them.
    ///
    /// By id where there is one; else by list and place in the body, as `encode` makes it.
    func refused(_ refusals: [UploadAnswer.Refusal], in part: Range<Int>) -> (reasons: [Int: String], unknown: Int) {
        guard !refusals.isEmpty else { return ([:], 0) }
        let places = Dictionary(part.map { (element($0).id.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        var lists: [String: [Int]] = [:]
        for index in part { lists[list(index), default: []].append(index) }
        var reasons: [Int: String] = [:]
        var unknown = 0
        for refusal in refusals {
            var place = refusal.id.flatMap { places[$0.lowercased()] }
            if refusal.id == nil, let index = refusal.index {
                // Without its name the only list there is.
                let list = refusal.list.map { lists[$0] } ?? (lists.count == 1 ? lists.values.first : nil)
                place = list.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            }
            if let place { reasons[place] = refusal.reason } else { unknown += 1 }
        }
        return (reasons, unknown)
    }

    /// The list of the body that an element goes into.
    private func list(_ index: Int) -> String {
        switch content {
        case .samples(let page): page.flags[index].contains(.deleted) ? "deleted" : "samples"
        case .workouts(let all): all[index].body == nil ? "deleted" : "workouts"
        case .nights(let all): all[index].body == nil ? "deletedNights" : "nights"
        case .days(let all): all[index].body == nil ? "deleted" : "days"
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
