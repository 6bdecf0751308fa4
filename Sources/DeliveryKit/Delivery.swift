import HealthModel
import StageKit

/// One fetched set of pages on its way to the backend: the requests for it, and which of them are settled.
package struct Delivery {
    package let upstream: String
    /// What counts as consumed once the delivery is done; nil for a redelivery, which moves no anchor.
    var fetched: Upstream.Fetched?
    package var groups: [DeliveryGroup]
    /// The time until which the delivery may wait for more.
    var fillsUntil = MonotonicTime.distantPast
    /// The current request, if any.
    var sent: Sent?
    /// Whether it may have been sent before, so that it is no wonder if the destination knows it.
    package var mayBeKnown = true
    /// The number of the pages' samples that are too old to be delivered.
    package var older: Int64 = 0

    struct Sent {
        var effect: Int64
        var group: Int
        var part: Range<Int>
        /// By the wall clock.
        var at: Instant
    }

    /// Whether it was delivered before.
    package var isAgain: Bool { fetched == nil }
    package var isDone: Bool { groups.allSatisfy { $0.batch.isSettled } }

    /// How many elements, regardless of their outcome.
    package var count: Int { groups.reduce(0) { $0 + $1.count } }

    /// Whether none of the delivery has been sent yet.
    var isUntouched: Bool {
        sent == nil && !isAgain && groups.allSatisfy { $0.batch == DeliveryBatch(count: $0.count) }
    }

    /// The group whose next part is to be sent; groups of waiting metrics are skipped.
    func nextGroup(besides waiting: Set<DeliveryMetric>) -> Int? {
        groups.firstIndex { $0.batch.next != nil && !waiting.contains($0.metric) }
    }
}

extension DeliveryGroup {
    /// Which elements an answer names as conflicts; ids that weren't sent are ignored.
    func conflicting(_ ids: [String], in part: Range<Int>) -> Set<Int> {
        guard !ids.isEmpty else { return [] }
        let named = Set(ids.map { $0.lowercased() })
        return Set(part.filter { named.contains(element($0).id.lowercased()) && !deletes($0) })
    }

    /// Which elements an answer's refusals concern, and how many of the refusals don't concern any of them.
    ///
    /// An element is found by its id if the refusal gives one; otherwise by list and position in the request.
    func refused(_ refusals: [DeliveryAnswer.Refusal], in part: Range<Int>) -> (reasons: [Int: String], unknown: Int) {
        guard !refusals.isEmpty else { return ([:], 0) }
        let places = Dictionary(part.map { (element($0).id.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        var lists: [String: [Int]] = [:]
        for index in part { lists[list(index), default: []].append(index) }
        var reasons: [Int: String] = [:]
        var unknown = 0
        for refusal in refusals {
            var place = refusal.id.flatMap { places[$0.lowercased()] }
            if refusal.id == nil, let index = refusal.index {
                // If the refusal doesn't name a list, it means the only list in the request.
                let list = refusal.list.map { lists[$0] } ?? (lists.count == 1 ? lists.values.first : nil)
                place = list.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            }
            if let place { reasons[place] = refusal.reason } else { unknown += 1 }
        }
        return (reasons, unknown)
    }
}
