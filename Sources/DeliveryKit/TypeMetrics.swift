import HealthModel

/// The metric of each type: each row of a comparison asks for it, and the configuration has to look for it.
final class TypeMetrics {
    private var known: [String: DeliveryMetric] = [:]
    private let find: (String) -> DeliveryMetric

    init(_ find: @escaping (String) -> DeliveryMetric) { self.find = find }

    subscript(type: String) -> DeliveryMetric {
        if let metric = known[type] { return metric }
        let metric = find(type)
        known[type] = metric
        return metric
    }
}
