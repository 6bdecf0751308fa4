import HealthModel
import Protocol
import StageKit

extension ConsolidatorStage {
    /// Adopts changed zone timelines: days that now begin or end at other instants are open again until every handler
    /// has computed them with the new timeline.
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
            // The mark was computed with the older timeline. A candidate waits for the zones, then becomes a mark that
            // takes them into account.
            withdrawFinality()
        }
    }

    /// The zone in which a day begins; nil for a date that was skipped.
    static func zone(of day: LocalDay, _ zones: ZoneTimeline) -> String? {
        zones.ranges(of: day).first.map { zones.zone(at: $0.lowerBound) }
    }
}
