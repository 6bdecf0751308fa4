import HealthModel

/// Elements of one kind, of one user, for one path: what is delivered of pages, and the body that it is sent as. Pure.
package struct DeliveryGroup {
    package var metric: UploadMetric
    package var user: String
    var content: Content
    package var batch: UploadBatch

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
}

extension DeliveryGroup {
    /// The body of a request with these elements.
    package func encode(_ part: Range<Int>, deviceId: String, syncedAt: Instant) -> [UInt8] {
        var body: [UInt8] = []
        func documents(_ all: [Document]) -> ([Value], [UploadEncoding.Deletion]) {
            let some = all[part]
            return (
                some.compactMap { document in
                    document.body.flatMap { UploadDocument.versioned($0, document.version) }
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

    /// When what some elements tell of ended, of those that did no earlier than `first`; tombstones and days tell of nothing that
    /// has an end.
    package func ends(_ part: Range<Int>, since first: Instant) -> [Instant] {
        switch content {
        case .samples(let page):
            part.filter { page.end[$0] >= first.microseconds && !page.flags[$0].contains(.deleted) }.map {
                page.endOf($0)
            }
        case .workouts(let all): ends(all[part], "endDate", first)
        case .nights(let all): ends(all[part], "end", first)
        case .days: []
        }
    }

    private func ends(_ documents: ArraySlice<Document>, _ member: String, _ first: Instant) -> [Instant] {
        documents.compactMap { $0.body?[member].string.flatMap { InstantText.parse($0) } }.filter { $0 >= first }
    }

    /// Elements.
    package var count: Int {
        switch content {
        case .samples(let page): page.count
        case .workouts(let all), .nights(let all), .days(let all): all.count
        }
    }

    /// The list of the body that an element goes into.
    package func list(_ index: Int) -> String {
        switch content {
        case .samples(let page): page.flags[index].contains(.deleted) ? "deleted" : "samples"
        case .workouts(let all): all[index].body == nil ? "deleted" : "workouts"
        case .nights(let all): all[index].body == nil ? "deletedNights" : "nights"
        case .days(let all): all[index].body == nil ? "deleted" : "days"
        }
    }

    /// Id and version of an element, for a dead letter.
    package func element(_ index: Int) -> (id: String, version: Int64) {
        switch content {
        case .samples(let page): (page.ids[index].description, page.sequence[index])
        case .workouts(let all), .nights(let all), .days(let all): (all[index].id, all[index].version)
        }
    }
}
