import Changelog
import HealthModel
import Protocol
import StageKit

/// Makes requests larger while a lot is waiting: given many samples at once, a backend's database writes fewer pages
/// and syncs less often.
///
/// This applies only to a backend that accepts columns, and only while delivery is far behind the newest data: new data
/// is sent at once.
extension DeliveryStage {
    /// If delivery is behind the limit by more than this many sequence numbers, a short wait doesn't matter.
    private static let much: Int64 = 8192
    /// A request with this many samples isn't worth holding back for more.
    private static let enough = SampleDelivery.elementLimit * 9 / 10
    /// The longest time that a request waits to be filled.
    static let patience = Duration.seconds(1)

    /// Adds what was fetched to the delivery that is waiting for more, or makes a new delivery from it.
    /// - Parameter older: how many of the fetched samples are too old to be delivered.
    func take(
        _ fetched: Upstream.Fetched, _ groups: [DeliveryGroup], older: Int64 = 0, of upstream: Upstream, _ turn: Turn
    ) {
        // The pages can be dropped, since their content is in the groups.
        var fetched = fetched
        fetched.pages = []
        let count = groups.reduce(0) { $0 + $1.count }
        if let index = fillable(upstream), deliveries[index].count + count <= SampleDelivery.elementLimit {
            deliveries[index].groups.take(groups)
            deliveries[index].fetched = fetched
            deliveries[index].older += older
        } else {
            var delivery = Delivery(
                upstream: upstream.name, fetched: fetched, groups: groups, fillsUntil: turn.monotonic + Self.patience)
            delivery.older = older
            delivery.mayBeKnown = !caughtUp.contains(upstream.producer)
            deliveries.append(delivery)
        }
    }

    /// The delivery to which more may be added; nil when there is none.
    private func fillable(_ upstream: Upstream) -> Int? {
        guard takesColumns, settings.samplesPerSecond == 0, upstream === samples,
            let index = deliveries.lastIndex(where: { $0.upstream == upstream.name }), deliveries[index].isUntouched,
            deliveries[index].count < Self.enough
        else { return nil }
        return index
    }

    /// Whether another set may be fetched while earlier ones are waiting.
    func mayFetch(_ upstream: Upstream) -> Bool {
        let waiting = deliveries.count { $0.upstream == upstream.name }
        return waiting - (fillable(upstream) == nil ? 0 : 1) < Self.waitingSets
    }

    /// Whether a delivery has to wait so as not to exceed the allowed samples per second.
    func isPaced(_ index: Int, _ turn: Turn) -> Bool {
        turn.monotonic < pacedUntil && deliveries[index].groups.contains { $0.isSamples && $0.batch.next != nil }
    }

    /// Counts what is sent towards the limit.
    func pace(_ group: DeliveryGroup, _ part: Range<Int>, _ turn: Turn) {
        guard settings.samplesPerSecond > 0, group.isSamples else { return }
        pacedUntil = max(pacedUntil, turn.monotonic) + .seconds(Double(part.count) / settings.samplesPerSecond)
    }

    /// Selects the part of a producer's pages that is delivered to this destination.
    func groups(_ pages: [Value], from name: String, isSamples: Bool) throws -> [DeliveryGroup] {
        try split(pages, from: name, isSamples: isSamples).taken
    }

    /// Samples are chosen by their types.
    func isTaken(_ group: DeliveryGroup) -> Bool {
        group.isSamples || settings.choice.takes(documentsOf: group.metric)
    }

    /// Whether a delivery is held back because more is on its way.
    func isFilling(_ index: Int, _ turn: Turn) -> Bool {
        index == fillable(samples) && samples.isFetching && turn.monotonic < deliveries[index].fillsUntil
            && (!samples.cursor.backfill.isEmpty || !samples.isLive(within: Self.much))
    }
}
