import HealthModel
import Protocol
import StageKit

/// Turns fetched pages into requests, and moves the anchors when the requests end.
extension DeliveryStage {
    /// Fetches as much as there is room for, and sends what is waiting; returns when to look again.
    func move(_ turn: Turn) throws -> MonotonicTime? {
        try settleDone(turn)
        joinBlocked()
        for upstream in upstreams where mayFetch(upstream) { upstream.pump(turn) }
        try pumpReplay(turn)
        blockage.hears(hasPath: gate.isOpen)
        guard gate.isOpen else { return nil }
        guard turn.monotonic >= blockage.until else { return blockage.until }
        // Summaries and events come first, because they are small, and are what people look at.
        let order = deliveries.indices.sorted { rank(deliveries[$0]) < rank(deliveries[$1]) }
        let waiting = waitingMetrics
        var next: MonotonicTime?
        for index in order {
            guard deliveries.count(where: { $0.sent != nil }) < Self.concurrentRequests else { break }
            guard deliveries[index].sent == nil else { continue }
            if isFilling(index, turn) {
                next = deliveries[index].fillsUntil
            } else if isPaced(index, turn) {
                next = pacedUntil
            } else {
                send(index, besides: waiting, turn)
            }
        }
        return next
    }

    /// Redeliveries come last: today never waits for the past.
    private func rank(_ delivery: Delivery) -> Int {
        delivery.fetched == nil ? 2 : delivery.upstream == samples.name ? 1 : 0
    }

    private func send(_ index: Int, besides waiting: Set<DeliveryMetric>, _ turn: Turn) {
        guard let group = deliveries[index].nextGroup(besides: waiting) else { return }
        deliveries[index].groups[group].batch.split(to: settings.elementsPerRequest)
        guard let part = deliveries[index].groups[group].batch.next else { return }
        let effect = perform(deliveries[index].groups[group], part, turn)
        pace(deliveries[index].groups[group], part, turn)
        deliveries[index].sent = .init(effect: effect, group: group, part: part, at: turn.now)
    }

    /// Asks the host to deliver elements.
    func perform(_ group: DeliveryGroup, _ part: Range<Int>, _ turn: Turn) -> Int64 {
        turn.perform(
            DeliveryRequest(
                group: group, part: part, deviceId: turn.head.store, syncedAt: turn.now, takesColumns: takesColumns,
                refreshToken: blockage.takeTokenRefresh(), seen: seen))
    }

    /// Moves the anchors past complete deliveries, in order for each upstream.
    func settleDone(_ turn: Turn) throws {
        for upstream in upstreams {
            while let index = deliveries.firstIndex(where: { $0.upstream == upstream.name }), deliveries[index].isDone {
                if let fetched = deliveries[index].fetched { _ = try upstream.settle(fetched, turn) }
                try ledger.keeps(older: deliveries[index].older, turn)
                deliveries.remove(at: index)
            }
        }
    }
}
