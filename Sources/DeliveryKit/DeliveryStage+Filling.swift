import Changelog
import HealthModel
import Protocol
import StageKit

/// Larger requests while much waits: a backend's database writes fewer pages, and syncs less often, for many samples at once.
///
/// Only for a backend that takes columns, and only far behind the newest: what is new goes at once.
extension DeliveryStage {
    /// So far behind the limit, in sequences, that a little time doesn't matter.
    private static let much: Int64 = 8192
    /// A request that has as many samples isn't worth waiting for more.
    private static let enough = SampleDelivery.elementLimit * 9 / 10
    /// How long a request waits to be filled, at most.
    static let patience = Duration.seconds(1)

    /// Takes what was fetched: into the delivery that waits for more, or as one of its own.
    func take(_ fetched: Upstream.Fetched, _ groups: [DeliveryGroup], of upstream: Upstream, _ turn: Turn) {
        // What they hold is in the groups.
        var fetched = fetched
        fetched.pages = []
        let count = groups.reduce(0) { $0 + $1.count }
        if let index = fillable(upstream), deliveries[index].count + count <= SampleDelivery.elementLimit {
            deliveries[index].groups.take(groups)
            deliveries[index].fetched = fetched
        } else {
            deliveries.append(
                Delivery(
                    upstream: upstream.name, fetched: fetched, groups: groups,
                    fillsUntil: turn.monotonic + Self.patience))
        }
    }

    /// The delivery that may take more; nil when there is none.
    private func fillable(_ upstream: Upstream) -> Int? {
        guard takesColumns, settings.samplesPerSecond == 0, upstream === samples,
            let index = deliveries.lastIndex(where: { $0.upstream == upstream.name }), deliveries[index].isUntouched,
            deliveries[index].count < Self.enough
        else { return nil }
        return index
    }

    /// Whether another set may be fetched beside those that wait.
    func mayFetch(_ upstream: Upstream) -> Bool {
        let waiting = deliveries.count { $0.upstream == upstream.name }
        return waiting - (fillable(upstream) == nil ? 0 : 1) < Self.waitingSets
    }

    /// Whether a delivery waits, so that there aren't more samples a second than there may be.
    func isPaced(_ index: Int, _ turn: Turn) -> Bool {
        turn.monotonic < pacedUntil && deliveries[index].groups.contains { $0.isSamples && $0.batch.next != nil }
    }

    /// Counts what is sent.
    func pace(_ group: DeliveryGroup, _ part: Range<Int>, _ turn: Turn) {
        guard settings.samplesPerSecond > 0, group.isSamples else { return }
        pacedUntil = max(pacedUntil, turn.monotonic) + .seconds(Double(part.count) / settings.samplesPerSecond)
    }

    /// What is delivered here of a producer's pages.
    func groups(_ pages: [Value], from name: String, isSamples: Bool) throws -> [DeliveryGroup] {
        try DeliveryGroup.groups(pages, from: name, isSamples: isSamples, family: family).filter { isTaken($0) }
    }

    /// Samples are chosen by their types.
    func isTaken(_ group: DeliveryGroup) -> Bool {
        group.isSamples || settings.choice.takes(documentsOf: group.metric)
    }

    /// Whether a delivery isn't sent yet, since more for it is on its way.
    func isFilling(_ index: Int, _ turn: Turn) -> Bool {
        index == fillable(samples) && samples.isFetching && turn.monotonic < deliveries[index].fillsUntil
            && (!samples.cursor.backfill.isEmpty || !samples.isLive(within: Self.much))
    }
}
