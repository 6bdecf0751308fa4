import HealthModel

/// The newest version of each element that a destination has recently accepted from this process, for destinations that
/// keep whatever arrives last.
///
/// They have no version rule. Two requests may hold the same element, and the
/// older one may be sent again after the newer one was accepted; or a change may overtake a waiting redelivery. An
/// element whose newer version was accepted is therefore left out. An element whose newer version was only sent isn't
/// left out: that version is sent again until it is accepted or refused, so it arrives last, or was never stored.
///
/// Versions of different histories don't compare: a store that was lost begins at 1 again, and its elements take the
/// place of those that the lost one gave.
///
/// This needn't outlive the process, because after a restart everything is pulled again in its current state.
package struct SentVersions {
    /// A part's elements.
    package struct Selection: Equatable {
        /// The rows to send: each element once, in its newest version.
        package var rows: [Int] = []
        /// The rows superseded by what was accepted or by another of `rows`, and those left out.
        package var overtaken: Set<Int> = []

        package init(rows: [Int] = [], overtaken: Set<Int> = []) { (self.rows, self.overtaken) = (rows, overtaken) }

        package mutating func leaveOut(_ isMeant: (Int) -> Bool) {
            overtaken.formUnion(rows.filter(isMeant))
            rows.removeAll(where: isMeant)
        }
    }

    /// Two tables, by a digest of history, user, kind and id: when the younger one is full, the older one is dropped.
    /// Everything in progress at any one time fits into one of them.
    private var young: [SampleID: Int64] = [:]
    private var old: [SampleID: Int64] = [:]
    private let capacity: Int

    /// - Parameter capacity: the capacity of each table, at 32 bytes per element.
    package init(capacity: Int = 49_000) { self.capacity = capacity }

    package func select(_ request: DeliveryRequest) -> Selection {
        var found = Selection()
        var newest: [SampleID: (place: Int, version: Int64)] = [:]
        for index in request.part {
            let (key, version) = Self.element(index, of: request)
            guard version >= young[key] ?? old[key] ?? .min else {
                found.overtaken.insert(index)
                continue
            }
            guard let other = newest[key] else {
                newest[key] = (index, version)
                continue
            }
            // Two versions of one element may make the request invalid.
            found.overtaken.insert(version >= other.version ? other.place : index)
            if version >= other.version { newest[key] = (index, version) }
        }
        found.rows = request.part.filter { !found.overtaken.contains($0) }
        return found
    }

    /// Records that the destination has accepted these rows.
    package mutating func accept(_ request: DeliveryRequest, _ rows: [Int]) {
        for index in rows {
            let (key, version) = Self.element(index, of: request)
            if young.count >= capacity, young[key] == nil { (old, young) = (young, [:]) }
            young[key] = version
        }
    }

    private static func element(_ index: Int, of request: DeliveryRequest) -> (SampleID, Int64) {
        let group = request.group
        let kind =
            switch group.content {
            case .samples: "sample"
            case .workouts: "workout"
            case .nights: "night"
            case .days: "day"
            }
        let (id, version) = group.element(index)
        return (NamedID.uuid([request.history, group.user, kind, id]), version)
    }
}
