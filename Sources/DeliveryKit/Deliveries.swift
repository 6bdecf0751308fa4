import HealthModel
import Protocol
import StageKit

/// The fetched sets on their way to the destination: what is joined, what is sent next, and what is settled. Pure.
package struct Deliveries {
    /// Where a group is, until a delivery before it is removed.
    package struct Place: Sendable, Equatable {
        package var delivery: Int
        package var group: Int

        package init(_ delivery: Int, _ group: Int) { (self.delivery, self.group) = (delivery, group) }
    }

    /// A request that has got its answer.
    package struct Answered {
        package var place: Place
        package var part: Range<Int>
        package var effect: Int64
    }

    /// The name of the samples' upstream.
    let samples: String
    var all: [Delivery] = []
    /// The upstreams of which everything had been delivered once, since the process began or everything was delivered
    /// again: what comes from them now was never sent before.
    private var caughtUp: Set<String> = []

    /// How many requests may be in progress at once: one is being encoded while the other is being stored.
    private static let concurrentRequests = 2
    /// How many fetched sets of one upstream there may be, those being sent and those settled out of order included.
    private static let waitingSets = 3
    /// A request with this many samples isn't worth holding back for more.
    private static let enough = SampleDelivery.elementLimit * 9 / 10
    /// The longest time that a request waits to be filled.
    private static let patience = Duration.seconds(1)

    package init(samples: String) { self.samples = samples }

    package var isEmpty: Bool { all.isEmpty }
    package var count: Int { all.count }
    package subscript(index: Int) -> Delivery {
        get { all[index] }
        _modify { yield &all[index] }
    }
    package subscript(place: Place) -> DeliveryGroup {
        get { all[place.delivery].groups[place.group] }
        _modify { yield &all[place.delivery].groups[place.group] }
    }

    // MARK: Fetching

    /// Adds what was fetched to the delivery that is waiting for more, or makes a new delivery from it.
    /// - Parameters:
    ///   - older: how many of the fetched samples are too old to be delivered.
    ///   - fills: whether requests with samples are filled.
    package mutating func add(
        _ fetched: Upstream.Fetched, _ groups: [DeliveryGroup], older: Int64 = 0, of upstream: String, fills: Bool,
        at now: MonotonicTime
    ) {
        // The pages can be dropped, since their content is in the groups.
        var fetched = fetched
        fetched.pages = []
        if fills, upstream == samples, let index = fillable,
            all[index].count + groups.reduce(0, { $0 + $1.count }) <= SampleDelivery.elementLimit
        {
            all[index].groups.take(groups)
            all[index].fetched = fetched
            all[index].older += older
        } else {
            var delivery = Delivery(
                upstream: upstream, fetched: fetched, groups: groups, fillsUntil: now + Self.patience)
            delivery.older = older
            delivery.mayBeKnown = !caughtUp.contains(upstream)
            all.append(delivery)
        }
    }

    /// The delivery of samples to which more may be added.
    private var fillable: Int? {
        guard let index = all.lastIndex(where: { $0.upstream == samples }), all[index].isUntouched,
            all[index].count < Self.enough
        else { return nil }
        return index
    }

    /// Whether another set may be fetched while earlier ones are waiting.
    package func mayFetch(_ upstream: String, fills: Bool) -> Bool {
        let isFillable = fills && upstream == samples && fillable != nil
        return all.count { $0.upstream == upstream } - (isFillable ? 1 : 0) < Self.waitingSets
    }

    /// Adds what is delivered again.
    package mutating func addAgain(_ groups: [DeliveryGroup]) {
        guard !groups.isEmpty else { return }
        all.append(Delivery(upstream: DeliveryReplay.name, fetched: nil, groups: groups))
    }

    // MARK: Sending

    /// Summaries and events come first, because they are small, and are what people look at; what is delivered again
    /// comes last, since today never waits for the past.
    package var order: [Int] {
        func rank(_ index: Int) -> Int { all[index].isAgain ? 2 : all[index].upstream == samples ? 1 : 0 }
        return all.indices.sorted { rank($0) < rank($1) }
    }

    package var maySend: Bool { all.count { $0.sent != nil } < Self.concurrentRequests }

    /// Whether a delivery may be held back because more of it is on its way.
    package func mayFill(_ index: Int, at now: MonotonicTime) -> Bool {
        index == fillable && now < all[index].fillsUntil
    }

    /// What to send next of a delivery, besides waiting metrics.
    package mutating func next(
        _ index: Int, besides waiting: Set<DeliveryMetric>, upTo count: Int
    ) -> (place: Place, part: Range<Int>)? {
        guard let group = all[index].nextGroup(besides: waiting) else { return nil }
        all[index].groups[group].batch.split(to: count)
        return all[index].groups[group].batch.next.map { (Place(index, group), $0) }
    }

    package mutating func sent(_ part: Range<Int>, of place: Place, effect: Int64, at now: Instant) {
        all[place.delivery].sent = .init(effect: effect, group: place.group, part: part, at: now)
    }

    /// Returns the request that an effect was about; nil if it is about another one, or one that was dropped.
    package mutating func answered(_ effect: Int64) -> Answered? {
        guard let index = all.firstIndex(where: { $0.sent?.effect == effect }), let sent = all[index].sent else {
            return nil
        }
        all[index].sent = nil
        return Answered(place: Place(index, sent.group), part: sent.part, effect: effect)
    }

    /// When the oldest request was sent that has no answer yet.
    package var unansweredSince: Instant? { all.compactMap(\.sent?.at).min() }

    // MARK: Ending

    /// Removes the oldest delivery of an upstream, if it is done: anchors move in order.
    package mutating func removeDone(of upstream: String) -> Delivery? {
        guard let index = all.firstIndex(where: { $0.upstream == upstream }), all[index].isDone else { return nil }
        return all.remove(at: index)
    }

    package mutating func remove(of upstream: String) { all.removeAll { $0.upstream == upstream } }

    /// Notes that an upstream has nothing more.
    package mutating func noteLevel(_ upstream: String) {
        if !all.contains(where: { $0.upstream == upstream }) { caughtUp.insert(upstream) }
    }

    /// The upstream's store was made again.
    package mutating func forget(_ upstream: String) {
        remove(of: upstream)
        caughtUp.remove(upstream)
    }

    /// Everything is delivered again.
    package mutating func restart() { (all, caughtUp) = ([], []) }

    package mutating func removeAgain() { all.removeAll(where: \.isAgain) }

    /// Whether the next part may be delivered again, since the previous one is done.
    package mutating func mayGoOnAgain() -> Bool {
        all.removeAll { $0.isAgain && $0.isDone }
        return !all.contains(where: \.isAgain)
    }

    package var hasUnsent: Bool { all.contains { $0.sent == nil && !$0.isDone } }
}
