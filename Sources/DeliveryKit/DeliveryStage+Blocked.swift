import Protocol
import StageKit

/// Fetched sets that only wait because the destination refuses a metric. All samples have one upstream, whose sets are
/// settled in order, so a few of these would keep the samples of all other metrics from being fetched.
extension DeliveryStage {
    /// How many samples may wait like that, since they are kept in memory.
    private static let blockedLimit = SampleDelivery.elementLimit

    /// Joins neighbouring sets of samples in which everything that is left belongs to waiting metrics. The anchor passes
    /// all of them together. A set in which nothing is left takes no memory, so it is joined even beyond the limit.
    func joinBlocked() {
        let waiting = waitingMetrics
        guard !waiting.isEmpty else { return }
        var room = Self.blockedLimit
        var joined: [Delivery] = []
        for delivery in deliveries {
            guard delivery.upstream == samples.name, delivery.isBlocked(by: waiting) else {
                joined.append(delivery)
                continue
            }
            room -= delivery.unsettled
            if room >= 0 || delivery.isDone,
                let last = joined.lastIndex(where: { $0.upstream == samples.name }),
                joined[last].isBlocked(by: waiting), !joined[last].isDone
            {
                joined[last].append(delivery)
            } else {
                joined.append(delivery)
            }
        }
        deliveries = joined
    }
}

extension Delivery {
    /// The number of elements in groups that aren't settled.
    fileprivate var unsettled: Int { groups.reduce(0) { $0 + ($1.batch.isSettled ? 0 : $1.count) } }

    /// Whether nothing can be sent now: whatever is left of it, if anything, belongs to waiting metrics.
    fileprivate func isBlocked(by waiting: Set<DeliveryMetric>) -> Bool {
        sent == nil && fetched != nil && groups.allSatisfy { $0.batch.isSettled || waiting.contains($0.metric) }
    }

    /// - Parameter next: the set that was fetched after this one.
    fileprivate mutating func append(_ next: Delivery) {
        groups = (groups + next.groups).filter { !$0.batch.isSettled }
        fetched = next.fetched
        older += next.older
    }
}
