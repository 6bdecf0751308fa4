import DeliveryKit
import HealthModel

/// The newest version of each element that this process has sent lately.
///
/// A FHIR server has no rule of versions: whatever comes last stays. Two requests may hold the same element, and the
/// older one may be sent again after the newer one was accepted; or a redelivery waits while a change passes it. What
/// was already sent in a newer version is therefore left out. That needs no memory beyond the process: after a restart
/// everything is pulled again as it is then.
package struct SentVersions {
    private struct Key: Hashable {
        var user: String
        var kind: UInt8
        var sample: SampleID?
        /// A document's id.
        var name: String
    }

    /// Two tables: when the younger one is full, the older one is dropped. What is under way at once fits in one.
    private var young: [Key: Int64] = [:]
    private var old: [Key: Int64] = [:]
    private let capacity: Int

    package init(capacity: Int = 100_000) { self.capacity = capacity }

    /// Which elements of a part are to be sent: each once, in its newest version; they count as sent from now on.
    package mutating func take(_ group: DeliveryGroup, _ part: Range<Int>) -> [Int] {
        var places: [Key: Int] = [:]
        var rows: [Int?] = []
        for index in part {
            let (key, version) = Self.element(index, of: group)
            guard version >= young[key] ?? old[key] ?? .min else { continue }
            remember(key, version)
            // Two versions of one element would make the transaction invalid.
            if let place = places[key] { rows[place] = nil }
            places[key] = rows.count
            rows.append(index)
        }
        return rows.compactMap { $0 }
    }

    private mutating func remember(_ key: Key, _ version: Int64) {
        if young.count >= capacity, young[key] == nil { (old, young) = (young, [:]) }
        young[key] = version
    }

    private static func element(_ index: Int, of group: DeliveryGroup) -> (Key, Int64) {
        switch group.content {
        case .samples(let page):
            (Key(user: group.user, kind: 0, sample: page.ids[index], name: ""), page.sequence[index])
        case .workouts(let all): document(all[index], 1, group.user)
        case .nights(let all): document(all[index], 2, group.user)
        case .days(let all): document(all[index], 3, group.user)
        }
    }

    private static func document(_ document: DeliveryGroup.Document, _ kind: UInt8, _ user: String) -> (Key, Int64) {
        (Key(user: user, kind: kind, sample: nil, name: document.id), document.version)
    }
}
