import Protocol

/// What is on its way of one metric, and what of it is held.
extension Deliveries {
    /// Where a metric's elements are.
    package func places(_ metric: DeliveryMetric) -> [Place] {
        all.indices.flatMap { index in
            all[index].groups.indices.filter { all[index].groups[$0].metric == metric }.map { Place(index, $0) }
        }
    }

    /// The number of a metric's elements that are held.
    package func held(_ metric: DeliveryMetric) -> Int { places(metric).reduce(0) { $0 + self[$1].batch.held.count } }

    func anyHeld(_ metric: DeliveryMetric) -> DeliveryGroup? {
        places(metric).map { self[$0] }.first { !$0.batch.held.isEmpty }
    }

    func isSending(_ metric: DeliveryMetric) -> Bool {
        all.contains { delivery in delivery.sent.map { delivery.groups[$0.group].metric } == metric }
    }

    func hasMore(_ metric: DeliveryMetric) -> Bool { places(metric).contains { self[$0].batch.next != nil } }

    mutating func change(_ metric: DeliveryMetric, _ change: (inout DeliveryBatch) -> Void) {
        for place in places(metric) { change(&self[place].batch) }
    }
}

/// Fetched sets that only wait because the destination refuses a metric. All samples have one upstream, whose sets are
/// settled in order, so a few of these would keep the samples of all other metrics from being fetched.
extension Deliveries {
    /// How many samples may wait like that, since they are kept in memory.
    private static let blockedLimit = SampleDelivery.elementLimit

    /// Joins neighbouring sets of samples in which everything that is left belongs to waiting metrics. The anchor passes
    /// all of them together. A set in which nothing is left takes no memory, so it is joined even beyond the limit.
    package mutating func join(besides waiting: Set<DeliveryMetric>) {
        guard !waiting.isEmpty else { return }
        var room = Self.blockedLimit
        var joined: [Delivery] = []
        for delivery in all {
            guard delivery.upstream == samples, delivery.isBlocked(by: waiting) else {
                joined.append(delivery)
                continue
            }
            room -= delivery.unsettled
            if room >= 0 || delivery.isDone, let last = joined.lastIndex(where: { $0.upstream == samples }),
                joined[last].isBlocked(by: waiting), !joined[last].isDone
            {
                joined[last].append(delivery)
            } else {
                joined.append(delivery)
            }
        }
        all = joined
    }
}

extension Delivery {
    /// The number of elements in groups that aren't settled.
    fileprivate var unsettled: Int { groups.reduce(0) { $0 + ($1.batch.isSettled ? 0 : $1.count) } }

    /// Whether nothing can be sent now: whatever is left of it, if anything, belongs to waiting metrics.
    fileprivate func isBlocked(by waiting: Set<DeliveryMetric>) -> Bool {
        sent == nil && !isAgain && groups.allSatisfy { $0.batch.isSettled || waiting.contains($0.metric) }
    }

    /// - Parameter next: the set that was fetched after this one.
    fileprivate mutating func append(_ next: Delivery) {
        groups = (groups + next.groups).filter { !$0.batch.isSettled }
        fetched = next.fetched
        older += next.older
    }
}
