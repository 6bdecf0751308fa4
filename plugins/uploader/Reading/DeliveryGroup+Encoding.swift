import DeliveryKit
import HealthModel

extension DeliveryGroup {
    /// The body of a request with these elements.
    package func encode(_ part: Range<Int>, deviceId: String, syncedAt: Instant) -> [UInt8] {
        var body: [UInt8] = []
        func documents(_ all: [Document]) -> ([Value], [UploadEncoding.Deletion]) {
            let some = all[part]
            return (
                some.compactMap { document in
                    document.body.flatMap { DeliveryDocument.versioned($0, document.version) }
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
}
