import DeliveryKit
import HealthModel

extension DeliveryGroup {
    /// The body of a request with these elements.
    package func encode(_ part: Range<Int>, deviceId: String, syncedAt: Instant) -> [UInt8] {
        var body: [UInt8] = []
        switch content {
        case .samples(let page):
            body.reserveCapacity(part.count * 400)
            UploadEncoding.samples(
                page: page, rows: part, user: user, deviceId: deviceId, syncedAt: syncedAt, into: &body)
        case .workouts(let all), .nights(let all), .days(let all):
            UploadEncoding.documents(
                heldList, all[part], user: user, deviceId: deviceId, syncedAt: syncedAt, into: &body)
        }
        return body
    }
}
