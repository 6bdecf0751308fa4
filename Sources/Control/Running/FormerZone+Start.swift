import Configuration
import Doctor
import Inspection
import StageKit

extension FormerZone {
    /// Returns the notices for a stack's start, after recording what is known about a lost store and forgetting what is
    /// settled.
    /// - Parameter zone: the zone in which a new user's days begin.
    static func atStart(of stack: Stack, beginning zone: ZoneChoice.Beginning) throws -> [String] {
        let layer = StackLayer(stack.state)
        let isLost = stack.state.lostObserver(of: stack.configuration) != nil
        let kept = isLost ? stack.state.keptZones(of: stack.configuration) : [:]
        for (user, former) in kept { try layer.setFormerZone(former, of: user) }
        let changed =
            try isLost
            ? layer.formerZones().sorted { $0.key < $1.key }.map {
                FormerZone(user: $0.key, former: $0.value, now: zone.name)
            } : all(of: stack, stack.reader(foundSilent: { _ in }))
        for entry in changed where entry.now == entry.former { try layer.setFormerZone(nil, of: entry.user) }
        let notices = changed.filter { $0.now != $0.former }.map(\.notice)
        guard isLost, kept.isEmpty else { return notices }
        return [
            "zone   \(zone.name) now (\(zone.by)): the observer's store is gone, and the zones set by hand with it. "
                + "'healthbus zone set ZONE' sets another"
        ]
    }
}
