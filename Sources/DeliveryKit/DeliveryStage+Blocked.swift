import Protocol
import StageKit

/// Fetched sets that only wait because the destination refuses a metric. All samples have one upstream, whose sets are
/// settled in order, so a few of these would keep the samples of all other metrics from being fetched.
extension DeliveryStage {
    /// How many elements may wait like that: this is kept in memory.
    private static let blockedLimit = SampleDelivery.elementLimit

    /// Joins sets of samples in which everything that is left belongs to waiting metrics. The anchor passes all of them
    /// together.
    func joinBlocked() {
        let waiting = waitingMetrics
        guard !waiting.isEmpty else { return }
        var joined: [Delivery] = []
        for delivery in deliveries {
            guard delivery.upstream == samples.name, delivery.isBlocked(waiting),
                let last = joined.lastIndex(where: { $0.upstream == samples.name }), joined[last].isBlocked(waiting),
                joined[last].unsettled + delivery.unsettled <= Self.blockedLimit
            else {
                joined.append(delivery)
                continue
            }
            joined[last].append(delivery)
        }
        deliveries = joined
    }
}

extension Delivery {
    /// How many elements the groups have that aren't settled.
    fileprivate var unsettled: Int { groups.reduce(0) { $0 + ($1.batch.isSettled ? 0 : $1.count) } }

    /// Whether all that is left of it belongs to waiting metrics.
    fileprivate func isBlocked(_ waiting: Set<UploadMetric>) -> Bool {
        sent == nil && fetched != nil && !isDone
            && groups.allSatisfy { $0.batch.isSettled || waiting.contains($0.metric) }
    }

    /// - Parameter next: the set that was fetched after this one.
    fileprivate mutating func append(_ next: Delivery) {
        groups = (groups + next.groups).filter { !$0.batch.isSettled }
        fetched = next.fetched
        older += next.older
    }
}
