import DeliveryKit
import HealthModel
import Protocol

extension DeliveryGroup {
    /// A request's body with these elements in columns; nil for elements sent as JSON.
    package func columns(_ part: Range<Int>, deviceId: String, syncedAt: Instant) -> [UInt8]? {
        guard case .samples(let page) = content, part.count > 1 else { return nil }
        // Usually nothing on a page is deleted, and the page is sent as it is. A part is sent with only those names
        // that it uses.
        let isWhole = part == 0..<page.count && page.flags.allSatisfy { $0.isDisjoint(with: [.deleted, .quarantined]) }
        let alive =
            isWhole ? page : page.keeping(part.filter { page.flags[$0].isDisjoint(with: [.deleted, .quarantined]) })
        let deleted = isWhole ? [] : part.filter { page.flags[$0].contains(.deleted) }
        return SampleDelivery(
            user: user, device: deviceId, syncedAt: syncedAt, samples: alive, deleted: deleted.map { page.ids[$0] },
            deletedVersions: deleted.map { page.sequence[$0] }
        ).encoded()
    }
}
