import HealthModel
import Protocol
import StageKit

extension ConsolidatorStage {
    /// Takes over changed zone timelines: days that hold other instants now are open again until every handler has computed them by it.
    func learnZones(_ page: ZonesPage, _ turn: Turn) throws {
        for change in try timelines.learn(page.zones, from: observer, turn) {
            ends.forget()
            for key in try days.days(of: change.user, turn) {
                let day = LocalDay(number: key.day)
                guard let old = change.old else {
                    touched.insert(key)
                    continue
                }
                if old.differs(from: change.new, on: day) {
                    if let state = try days.state(of: key, turn), state.isFinal, state.finalContent != nil {
                        try days.reopen(key, turn)
                    }
                    touched.insert(key)
                } else if Self.zone(of: day, old) != Self.zone(of: day, change.new) {
                    touched.insert(key)
                }
            }
            // What was marked was computed by the older one. A candidate waits for the zones, and becomes a mark that holds for them.
            finality.withdraw()
        }
    }

    /// Where a day begins; nil for a date that was left out.
    static func zone(of day: LocalDay, _ zones: ZoneTimeline) -> String? {
        zones.ranges(of: day).first.map { zones.zone(at: $0.lowerBound) }
    }
}
