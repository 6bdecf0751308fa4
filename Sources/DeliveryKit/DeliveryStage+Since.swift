import Configuration
import HealthModel
import Protocol

/// `deliverSince`: data from before this time, such as what a bulk import brought in, isn't delivered.
extension DeliveryStage {
    /// The part of a producer's pages that is delivered to this destination, and the number of living samples that are
    /// too old for it.
    func split(
        _ pages: [Value], from name: String, isSamples: Bool
    ) throws -> (taken: [DeliveryGroup], older: Int64) {
        recent(
            try DeliveryGroup.groups(pages, from: name, isSamples: isSamples, family: family).filter { isTaken($0) })
    }

    /// Samples are chosen by their types.
    func isTaken(_ group: DeliveryGroup) -> Bool {
        group.isSamples || settings.choice.takes(documentsOf: group.metric)
    }

    func recent(_ groups: [DeliveryGroup]) -> (taken: [DeliveryGroup], older: Int64) {
        guard let first = settings.deliverSince else { return (groups, 0) }
        let parts = groups.map { $0.recent(since: first, countingAfter: ledger.keptThrough) }
        return (parts.compactMap(\.group), parts.reduce(0) { $0 + $1.older })
    }

    /// - Throws: `ConfigurationError` for anything other than a date or a time.
    package static func deliverSince(
        of instance: StackConfiguration.Instance, in stack: StackConfiguration
    ) throws(ConfigurationError) -> DeliverSince? {
        guard let text = instance.configuration["deliverSince"].string else { return nil }
        guard let first = DeliverSince(text) else {
            throw ConfigurationError(
                file: stack.file, key: "instances.\(instance.name).configuration.deliverSince",
                reason: "is neither a date (2024-01-01, in UTC) nor a time with an offset (2024-01-01T00:00:00+01:00)")
        }
        return first
    }
}

extension DeliveryGroup {
    /// Leaves out what is too old: samples that ended earlier, with the names that only they use, days of earlier dates,
    /// and nights that ended and workouts that began before the date everywhere. Whether an element is too old never
    /// changes, so one that was delivered is kept current. Tombstones stay in, because what they delete may have been
    /// delivered before `deliverSince` was set.
    /// - Parameter counted: samples up to this sequence were counted before.
    /// - Returns: the remaining group, nil if nothing is left; and the number of other living samples that were left
    ///   out.
    package func recent(
        since first: DeliverSince, countingAfter counted: SequenceNumber = .beginning
    ) -> (group: DeliveryGroup?, older: Int64) {
        let page: SamplePage
        switch content {
        case .samples(let samples): page = samples
        case .workouts(let all): return (recent(all, first, "startDate") { .workouts($0) }, 0)
        case .nights(let all): return (recent(all, first, "end") { .nights($0) }, 0)
        case .days(let all): return (recent(all, first) { .days($0) }, 0)
        }
        let isRecent = { (row: Int) in
            page.end[row] >= first.moment.microseconds || page.flags[row].contains(.deleted)
        }
        let rows = (0..<page.count).filter(isRecent)
        guard rows.count < page.count else { return (self, 0) }
        let kept = page.keeping(rows)
        let older = (0..<page.count).count {
            !isRecent($0) && page.sequence[$0] > counted.value
        }
        let group = DeliveryGroup(
            metric: metric, user: user, content: .samples(kept), batch: DeliveryBatch(count: kept.count))
        return (rows.isEmpty ? nil : group, Int64(older))
    }

    /// - Parameter time: the member with the time that counts; nil if the date does.
    private func recent(
        _ all: [Document], _ first: DeliverSince, _ time: String? = nil, _ content: ([Document]) -> Content
    ) -> DeliveryGroup? {
        let kept = all.filter { document in
            guard let body = document.body else { return true }
            let moment = time.flatMap { body[$0].string }.flatMap { InstantText.parse($0) }
            return !(moment.map { first.isAfter(everywhere: $0) } ?? first.isAfter(day: document.day))
        }
        guard kept.count < all.count else { return self }
        guard !kept.isEmpty else { return nil }
        return DeliveryGroup(
            metric: metric, user: user, content: content(kept), batch: DeliveryBatch(count: kept.count))
    }
}
