import Changelog
import HealthModel
import Protocol
import StageKit

/// Turns fetched pages into requests, and moves the anchors when the requests end.
extension DeliveryStage {
    /// If delivery is behind the limit by more than this many sequence numbers, a short wait doesn't matter.
    private static let much: Int64 = 8192

    /// Fetches as much as there is room for, and sends what is waiting; returns when to look again.
    func move(_ turn: Turn) throws -> MonotonicTime? {
        try settleDone(turn)
        let waiting = held.waiting(deliveries)
        deliveries.join(besides: waiting)
        for upstream in upstreams where deliveries.mayFetch(upstream.name, fills: fillsRequests) {
            upstream.pump(turn)
        }
        try pumpReplay(turn)
        blockage.hears(hasPath: gate.isOpen)
        guard gate.isOpen else { return nil }
        guard turn.monotonic >= blockage.until else { return blockage.until }
        var next: MonotonicTime?
        for index in deliveries.order {
            guard deliveries.maySend else { break }
            guard deliveries[index].sent == nil else { continue }
            if isFilling, deliveries.mayFill(index, at: turn.monotonic) {
                next = deliveries[index].fillsUntil
            } else if pace.delays(deliveries[index], at: turn.monotonic) {
                next = pace.until
            } else {
                send(index, besides: waiting, turn)
            }
        }
        return next
    }

    /// Requests are made larger for a backend that accepts columns: given many samples at once, its database writes
    /// fewer pages and syncs less often.
    var fillsRequests: Bool { met.takesColumns && !pace.isLimited }

    /// Whether more samples are on their way while delivery is far behind the newest: new ones are sent at once.
    private var isFilling: Bool {
        fillsRequests && samples.isFetching
            && (!samples.cursor.backfill.isEmpty || !samples.isLive(within: Self.much))
    }

    private func send(_ index: Int, besides waiting: Set<DeliveryMetric>, _ turn: Turn) {
        guard let (place, part) = deliveries.next(index, besides: waiting, upTo: settings.elementsPerRequest) else {
            return
        }
        let effect = perform(deliveries[place], part, turn)
        pace.sent(deliveries[place], part, at: turn.monotonic)
        deliveries.sent(part, of: place, effect: effect, at: turn.now)
    }

    /// Asks the host to deliver elements.
    func perform(_ group: DeliveryGroup, _ part: Range<Int>, _ turn: Turn) -> Int64 {
        let known = ledger.backend
        return turn.perform(
            DeliveryRequest(
                group: group, part: part, deviceId: turn.head.store, syncedAt: turn.now,
                takesColumns: met.takesColumns, refreshToken: blockage.takeTokenRefresh(), history: history(of: group),
                seen: isBound ? SeenBackend(generation: known.generation, sequence: known.sequence) : SeenBackend()))
    }

    private func history(of group: DeliveryGroup) -> String {
        let stores =
            switch group.content {
            case .samples: [samples]
            case .days: documents.filter { !handlers.contains($0.producer) }
            case .workouts, .nights: documents.filter { handlers.contains($0.producer) }
            }
        return stores.map { $0.cursor.generation ?? "" }.joined(separator: " ")
    }

    /// Moves the anchors past complete deliveries, in order for each upstream.
    func settleDone(_ turn: Turn) throws {
        for upstream in upstreams {
            while let done = deliveries.removeDone(of: upstream.name) {
                if let fetched = done.fetched { _ = try upstream.settle(fetched, turn) }
                try ledger.keeps(older: done.older, turn)
            }
        }
    }
}
