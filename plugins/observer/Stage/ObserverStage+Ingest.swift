import HealthModel
import HealthPush
import HealthStore
import Protocol
import SQLite
import StageKit

/// Pushed data comes in parts from the process that received the request. The answer is sent after the commit, so what
/// it reports is durable.
extension ObserverStage {
    func take(_ part: IngestPart, from sender: String, _ turn: Turn) throws {
        var receipt: IngestReceipt
        switch desk.step(part, at: turn.monotonic, turn.now) {
        case .answered(let said): receipt = said
        case .beginAgain: receipt = IngestReceipt(id: part.id, part: part.number, beginAgain: true)
        case .take(let session):
            guard !turn.database.hasMoved else {
                receipt = IngestReceipt(id: part.id, part: part.number, refused: "the store's file was removed")
                break
            }
            if let own = part.own {
                receipt = IngestReceipt(id: part.id, part: part.number)
                receipt.own = try answer(own, of: part.user, from: part.device, turn)
                // Not remembered: a repeat simply reads again, and answers may be long.
                if own.action.isRead { break }
            } else {
                receipt =
                    try part.following.map { try take($0, in: part, from: sender, turn) } ?? take(part, session, turn)
            }
            desk.note(receipt, part.isLast ? nil : session, at: turn.monotonic)
        }
        turn.publish(IngestReceipt.topic(sender), receipt)
    }

    private func take(_ part: IngestPart, _ session: ImportSession, _ turn: Turn) throws -> IngestReceipt {
        var receipt = IngestReceipt(id: part.id, part: part.number)
        try zones.ensure(user: part.user, zone: zone, turn)
        var records = part.records
        try complete(&records, by: WayIn.named(part.way), of: part.user, from: part.device, turn)
        let deletions = try take(
            pushed: records, deleted: part.deleted, wholes: Set(part.deletedWholes), of: part.user, session, turn)
        if part.records.count > 0 {
            receipt.outcomes = session.outcomes.map(\.rawValue)
            receipt.reasons = session.reasons.sorted { $0.key < $1.key }
                .map { .init(row: Int64($0.key), text: $0.value) }
        }
        receipt.outcomes += deletions.map(\.rawValue)
        let writer = try writer(for: part.user, turn)
        quarantined += Int64(try writer.quarantine(part.quarantined, session: session))
        receipt.dropped = zip(part.quarantined, try writer.areDropped(part.quarantined))
            .filter { $0.1 }.map(\.0.line)
        return receipt
    }

    /// Adds what a way in can't know.
    func complete(
        _ records: inout RecordBatch, by way: WayIn?, of user: String, from device: String = "", _ turn: Turn
    ) throws {
        if way?.precision.hidesResting == true {
            try EnergySent.complete(&records, of: user, from: device, turn)
        }
        guard way?.precision.lacksZone == true, let timeline = try zones.timeline(of: user, turn) else { return }
        records.endDays(on: timeline)
    }

    /// Stores pushed data, however it came in. Deletions come first: a sample that replaces another may have the same
    /// key.
    /// - Returns: the outcome of each deletion.
    @discardableResult
    func take(
        pushed records: RecordBatch, deleted: [SampleID], wholes: Set<SampleID> = [], of user: String,
        _ session: ImportSession, _ turn: Turn
    ) throws -> [RecordOutcome] {
        try zones.ensure(user: user, zone: zone, turn)
        let writer = try writer(for: user, turn)
        _ = try turn.write()
        let deletions = try writer.outcomes(ofDeleting: deleted, wholes: wholes)
        if records.count > 0 {
            let counts = try writer.ingest(records, session: session, plausibility: Self.plausibility(at: turn.now))
            try zones.observe(records, user: user, turn)
            try raiseVersions(of: records, session, user: user, turn)
            quarantined += Int64(counts.total.newlyQuarantined)
            if records.types.contains(HealthType.workoutIdentifier) { try writer.settleWorkouts() }
        }
        try refreshHeads()
        return deletions
    }
}
