import HealthModel

/// Elements of one metric that a destination refused one by one without naming them. The question is whether the fault
/// is theirs or the destination's.
///
/// Meanwhile they are held: neither settled nor dead letters. Once the destination has accepted something after them,
/// they are sent again. Elements that are refused again are bad if it accepts something after that refusal too. If it
/// accepts nothing while more than a few are refused, it is at fault, and they are sent again after a while. All of this
/// is kept in memory: after a restart the elements are sent again.
package struct HeldMetric {
    package enum Evidence: Sendable {
        /// The destination has accepted an element on the same path.
        case element
        /// It has accepted an empty request: it isn't down, but may refuse anything with content.
        case emptyRequest
    }

    package struct Refusal: Sendable {
        package var reason: String
        package var status: Int?
    }

    /// How many elements became dead letters since the destination last accepted one.
    fileprivate var deadLetters = 0
    /// The effect whose answer refused the last of the elements; answers to anything sent before it prove nothing.
    fileprivate var last: Int64 = 0
    /// That of the last refusal.
    fileprivate var status: Int?
    /// How each held element was refused, by the key of the element.
    fileprivate var refusals: [String: Refusal] = [:]
    /// Nothing is sent before this time.
    fileprivate var until: MonotonicTime?
    /// Whether the held elements, rather than only a probe, are sent again after that time.
    fileprivate var hearsAgain = false
    /// The number of consecutive waits; 0 while there is no sign that the destination is at fault.
    package fileprivate(set) var attempt = 0
    /// The current probe, whose answer decides.
    fileprivate var probe: (effect: Int64, elements: Int)?

    /// What the destination has accepted while this many elements are held.
    /// - Returns: whether elements that were sent twice are refused for good, and the others sent again. If not, the
    ///   evidence isn't enough to condemn this many elements.
    fileprivate mutating func believes(_ evidence: Evidence, held: Int, limit: Int) -> Bool {
        until = nil
        if evidence == .element { (deadLetters, attempt) = (0, 0) }
        guard evidence == .element || deadLetters + held <= limit else { return false }
        attempt = 0
        return true
    }

    /// Returns true when it is time to send the held elements again.
    fileprivate mutating func wakes(at now: MonotonicTime) -> Bool {
        guard let until, now >= until else { return false }
        self.until = nil
        defer { hearsAgain = false }
        return hearsAgain
    }
}

/// The metrics of which elements are held, and what shows whether the destination accepts anything of them. Pure.
package struct HeldElements {
    /// What shows whether the destination accepts anything: an element that it already has, since repeating that
    /// changes nothing. If no such element is known, a request without elements.
    package struct Probe {
        package var metric: DeliveryMetric
        package var group: DeliveryGroup
        package var elements: Int
    }

    private var metrics: [DeliveryMetric: HeldMetric] = [:]
    /// For each metric, one element that the destination has accepted.
    private var good: [DeliveryMetric: DeliveryGroup] = [:]
    /// How many elements of a metric may be refused in a row before the destination counts as the cause; 0 if it never
    /// does.
    private let limit: Int

    package init(limit: Int) { self.limit = limit }

    package var isEmpty: Bool { metrics.isEmpty }
    package subscript(metric: DeliveryMetric) -> HeldMetric? { metrics[metric] }

    package func count(in deliveries: Deliveries) -> Int { metrics.keys.reduce(0) { $0 + deliveries.held($1) } }

    /// Metrics whose elements aren't sent at present, since the destination may be the cause.
    package func waiting(_ deliveries: Deliveries) -> Set<DeliveryMetric> {
        Set(metrics.keys.filter { metrics[$0]?.until != nil || isTooMany($0, in: deliveries) })
    }

    private func isTooMany(_ metric: DeliveryMetric, in deliveries: Deliveries) -> Bool {
        deliveries.held(metric) + (metrics[metric]?.deadLetters ?? 0) > limit
    }

    /// The first metric of which the destination refuses one element after another, and how.
    package var refused: (metric: DeliveryMetric, status: Int?)? {
        metrics.filter { $0.value.attempt > 0 }.min { $0.key.rawValue < $1.key.rawValue }.map {
            ($0.key, $0.value.status)
        }
    }

    // MARK: What an answer changes

    /// Holds an element that was refused when sent alone, without being named; returns false if it is to be given up
    /// instead.
    package mutating func hold(
        _ sent: Deliveries.Answered, in deliveries: inout Deliveries, _ reason: String, status: Int?
    ) -> Bool {
        guard limit > 0 else { return false }
        let group = deliveries[sent.place]
        deliveries[sent.place].batch.hold()
        var held = metrics[group.metric] ?? HeldMetric()
        (held.last, held.status) = (sent.effect, status)
        held.refusals[group.key(of: sent.part.lowerBound)] = .init(reason: reason, status: status)
        metrics[group.metric] = held
        return true
    }

    /// Notes an element that was accepted; returns whether that says something about those that are held.
    package mutating func accepted(
        _ element: Int, of group: DeliveryGroup, effect: Int64, _ deliveries: Deliveries
    ) -> Bool {
        good[group.metric] = group.only(element)
        // A request that was sent before the last refusal says nothing about the destination's state after it.
        guard let held = metrics[group.metric], effect > held.last else { return false }
        guard deliveries.held(group.metric) == 0 else { return true }
        metrics[group.metric] = nil
        return false
    }

    /// An element that is given up.
    package struct GivenUp {
        package var place: Deliveries.Place
        package var element: Int
        package var refusal: HeldMetric.Refusal
    }

    /// What evidence says about a metric: the elements that are given up; nil if it isn't enough to give up any.
    package mutating func conclude(
        _ evidence: HeldMetric.Evidence, _ metric: DeliveryMetric, _ deliveries: inout Deliveries
    ) -> [GivenUp]? {
        guard var held = metrics[metric] else { return [] }
        defer { metrics[metric] = held }
        guard held.believes(evidence, held: deliveries.held(metric), limit: limit) else { return nil }
        var all: [GivenUp] = []
        for place in deliveries.places(metric) {
            for element in deliveries[place].batch.settleHeld().sorted() {
                let refusal =
                    held.refusals.removeValue(forKey: deliveries[place].key(of: element))
                    ?? .init(reason: "it was refused", status: held.status)
                all.append(GivenUp(place: place, element: element, refusal: refusal))
            }
        }
        if evidence == .emptyRequest { held.deadLetters += all.count }
        return all
    }

    /// - Parameter hearsAgain: whether the held elements are sent again after the wait.
    package mutating func wait(
        for metric: DeliveryMetric, until: MonotonicTime, hearsAgain: Bool, _ deliveries: inout Deliveries
    ) {
        deliveries.change(metric) { $0.forgetHearings() }
        guard var held = metrics[metric] else { return }
        (held.until, held.hearsAgain) = (until, hearsAgain)
        held.attempt += 1
        metrics[metric] = held
    }

    package mutating func tryNow() {
        for (metric, held) in metrics where held.until != nil { metrics[metric]?.until = .distantPast }
    }

    /// Nothing is held any more; the destination has the good elements as before.
    package mutating func forgetMetrics() { metrics = [:] }

    /// Everything is delivered again.
    package mutating func restart() { (metrics, good) = ([:], [:]) }

    // MARK: Probes

    /// Releases what has waited long enough, and finds out whether the destination accepts anything, if elements are
    /// held and nothing else would reveal it.
    /// - Returns: what to send, and when to look again.
    package mutating func move(
        _ deliveries: inout Deliveries, at now: MonotonicTime
    ) -> (probes: [Probe], next: MonotonicTime?) {
        var probes: [Probe] = []
        var next: MonotonicTime?
        for metric in metrics.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            if metrics[metric]?.wakes(at: now) == true { deliveries.change(metric) { $0.release() } }
            guard let held = metrics[metric] else { continue }
            if let until = held.until {
                next = min(next ?? until, until)
            } else if held.probe == nil {
                if deliveries.held(metric) > 0 {
                    if let probe = probe(metric, deliveries) { probes.append(probe) }
                } else if held.deadLetters == 0, !deliveries.hasMore(metric) {
                    metrics[metric] = nil
                }
            }
        }
        return (probes, next)
    }

    private func probe(_ metric: DeliveryMetric, _ deliveries: Deliveries) -> Probe? {
        guard !deliveries.isSending(metric), isTooMany(metric, in: deliveries) || !deliveries.hasMore(metric)
        else { return nil }
        if let good = good[metric] { return Probe(metric: metric, group: good, elements: 1) }
        return deliveries.anyHeld(metric).map { Probe(metric: metric, group: $0, elements: 0) }
    }

    package mutating func sent(_ probe: Probe, effect: Int64) {
        metrics[probe.metric]?.probe = (effect, probe.elements)
    }

    /// Returns the metric that an effect probed, and what its acceptance shows; nil if it was no probe.
    package mutating func answered(_ effect: Int64) -> (metric: DeliveryMetric, evidence: HeldMetric.Evidence)? {
        guard let (metric, held) = metrics.first(where: { $0.value.probe?.effect == effect }), let probe = held.probe
        else { return nil }
        metrics[metric]?.probe = nil
        return (metric, probe.elements > 0 ? .element : .emptyRequest)
    }

    /// Records that a probe was refused.
    package mutating func refuses(_ metric: DeliveryMetric, _ status: Int?) {
        if let status { metrics[metric]?.status = status }
    }

    /// The good element isn't accepted any more, or wasn't sent: the next probe is another one.
    package mutating func forgetGood(_ metric: DeliveryMetric) { good[metric] = nil }

    /// After an upstream's history began again, what was accepted before may be older than what is there.
    package mutating func forgetGood() { good = [:] }
}

extension DeliveryGroup {
    /// A text that no other element of the metric has.
    fileprivate func key(of place: Int) -> String {
        let (id, version) = element(place)
        return "\(user) \(id) \(version)"
    }
}
