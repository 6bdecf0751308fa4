import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

extension FilesStage {
    package func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        switch request.action {
        case "replay":
            if let since = request.since {
                replayedRows = 0
                try samples.rewind(to: since, turn)
            } else if let replay = request.days, let from = LocalDay(replay.from),
                let through = LocalDay(replay.through)
            {
                // A local day reaches into the neighbouring days in UTC.
                let days = (from.number - 1)...(max(from, through).number + 1)
                replayedRows = try markAll(turn) { span in
                    span.period.days.overlaps(days) && (replay.users.isEmpty || replay.users[span.user] != nil)
                }
            } else {
                return .refused("a replay of files needs 'from' and 'through', or 'since'")
            }
            marks.hurry()
            return try repaired(request, turn)
        case "verify":
            prove(request, turn)
            return try repaired(request, turn)
        // Nothing is refused for good, so there are no dead letters.
        case "retry": return .done(["sent": 0, "deadLetters": 0])
        case "drop": return .done(["dropped": 0])
        case "reset":
            dropJobs(turn)
            // The files in the folder are found, and written again or removed.
            try ledger.reset(turn)
            check = FilesCheck()
            proof = FilesProof()
            manifest = FilesManifest()
            for upstream in upstreams { try upstream.forget(turn) }
            return .done([:])
        case let other: return .refused("the files destination doesn't support '\(other)'")
        }
    }

    package func repaired(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        if request.action == "verify" { return proven(request, turn) }
        guard request.action == "replay" else { return .done([:]) }
        let left = marks.count + (samples.isLevel ? 0 : 1)
        return left == 0 ? .done(["sent": .integer(replayedRows)]) : .underWay(left: Int64(left))
    }
}
