import Changelog
import HealthModel
import HealthStore
import Protocol
import StageKit

extension ObserverStage {
    /// Whatever is beyond one step's rows is asked for again: the destination compares once more.
    package func renew(_ renewal: Renewal, _ turn: Turn) throws {
        try turn.write().raise(above: renewal.above)
        var left = rowsPerStep
        for user in try HealthStoreReader(database: turn.database).userNames() {
            let writer = try writer(for: user, turn)
            for window in renewal.windows where left > 0 {
                left -= try writer.renew(
                    SequenceWindow(after: window.after, through: window.through), limit: left)
            }
        }
        try refreshHeads()
    }
}
