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
        let rows = (0..<count).filter { isRecent($0, since: first) }
        guard rows.count < count else { return (self, 0) }
        let kept: Content
        var older = 0
        switch content {
        case .samples(let page):
            kept = .samples(page.keeping(rows))
            older = (0..<count).count { !isRecent($0, since: first) && page.sequence[$0] > counted.value }
        case .workouts(let all): kept = .workouts(rows.map { all[$0] })
        case .nights(let all): kept = .nights(rows.map { all[$0] })
        case .days(let all): kept = .days(rows.map { all[$0] })
        }
        guard !rows.isEmpty else { return (nil, Int64(older)) }
        return (
            DeliveryGroup(metric: metric, user: user, content: kept, batch: DeliveryBatch(count: rows.count)),
            Int64(older)
        )
    }

    /// Whether an element isn't too old, as above.
    func isRecent(_ row: Int, since first: DeliverSince) -> Bool {
        func isRecent(_ document: Document, _ time: String?) -> Bool {
            guard let body = document.body else { return true }
            let moment = time.flatMap { body[$0].string }.flatMap { InstantText.parse($0) }
            return !(moment.map { first.isAfter(everywhere: $0) } ?? first.isAfter(day: document.day))
        }
        switch content {
        case .samples(let page):
            return page.end[row] >= first.moment.microseconds || page.flags[row].contains(.deleted)
        case .workouts(let all): return isRecent(all[row], "startDate")
        case .nights(let all): return isRecent(all[row], "end")
        case .days(let all): return isRecent(all[row], nil)
        }
    }
}
