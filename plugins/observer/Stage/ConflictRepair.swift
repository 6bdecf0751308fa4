import Changelog
import HealthModel
import HealthStore
import Protocol
import StageKit

/// Conflicts that a person decides: which of two contents under one UUID is right.
extension ObserverStage {
    /// The possible values of `keep`.
    private enum Keep: String { case stored, other }

    func settle(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        guard let keep = request.keep.flatMap(Keep.init(rawValue:)), let number = request.numbers?.first else {
            return .refused("the request doesn't say which content counts: keep is 'stored' or 'other'")
        }
        let reader = try HealthStoreReader(database: try turn.write().database)
        let found = try reader.quarantine(after: number - 1, limit: 1).first
        guard let entry = found, entry.number == number, entry.reason == RecordConflict.reason,
            let conflict = RecordConflict(json: entry.raw)
        else { return .refused("there is no conflict \(number); 'healthbus conflicts list' shows them all") }
        let end = try writer(for: entry.user, turn).settle(
            entry, conflict, takesOther: keep == .other, plausibility: Self.plausibility(at: turn.now))
        switch end {
        case .isGone:
            return .refused(
                "the sample of conflict \(number) has been deleted since; "
                    + "'healthbus quarantine drop \(number)' forgets the other content"
            )
        case .isImplausible(let why):
            return .refused("the other content can't be true: \(why); keep what is stored")
        case .settled:
            if keep == .other, let uuid = SampleID(conflict.uuid) {
                try raiseVersion(of: uuid, user: entry.user, turn)
            }
        }
        try refreshQuarantined(turn)
        return .done(["id": .integer(number), "kept": .string(keep.rawValue), "type": .string(conflict.type)])
    }
}
