import DeliveryKit
import HealthModel
import Protocol

extension DeadLetter {
    /// What would be sent for this element, built from a producer's pages, and its version there; nil when they don't
    /// contain it.
    /// - Parameters:
    ///   - producer: where the pages come from.
    ///   - family: a sample type's family.
    package func element(
        samples: [SamplesPage], changes: [ChangesPage], of producer: String, family: (String) -> String
    ) throws -> (body: Value, version: Int64)? {
        let groups =
            try DeliveryGroup.groups(samples: samples, from: producer) { DeliveryMetric(family: family($0)) }
            + DeliveryGroup.groups(documents: changes, from: producer)
        for group in groups {
            guard let index = group.place(of: self) else { continue }
            let body = try Value(json: group.encode(index..<index + 1, deviceId: "", syncedAt: lastTried))
            return (body, group.element(index).version)
        }
        return nil
    }
}
