import HealthModel
import HealthStore
import Protocol
import SQLite
import StageKit

/// What is pushed comes in parts from who took the request. The answer goes out after the commit, so what it says is durable.
extension ObserverStage {
    func take(_ part: IngestPart, from sender: String, _ turn: Turn) throws {
        let receipt: IngestReceipt
        switch desk.step(part, at: turn.monotonic) {
        case .answered(let said): receipt = said
        case .beginAgain: receipt = IngestReceipt(id: part.id, part: part.number, beginAgain: true)
        case .take(let session):
            guard !turn.database.hasMoved else {
                receipt = IngestReceipt(id: part.id, part: part.number, refused: "the store's file was removed")
                break
            }
            receipt = try take(part, session, turn)
            desk.note(receipt, part.isLast ? nil : session, at: turn.monotonic)
        }
        turn.publish(IngestReceipt.topic(sender), receipt)
    }

    /// Deletions first: a sample that takes another's place may have its key.
    private func take(_ part: IngestPart, _ session: ImportSession, _ turn: Turn) throws -> IngestReceipt {
        try zones.ensure(user: part.user, zone: zone, turn)
        let writer = try writer(for: part.user, turn)
        _ = try turn.write()
        let deletions = try writer.outcomes(ofDeleting: part.deleted)
        var receipt = IngestReceipt(id: part.id, part: part.number)
        if part.records.count > 0 {
            let counts = try writer.ingest(
                part.records, session: session, plausibility: Self.plausibility(at: turn.now))
            try zones.observe(part.records, user: part.user, turn)
            quarantined += Int64(counts.total.newlyQuarantined)
            receipt.outcomes = session.outcomes.map(\.rawValue)
            receipt.reasons = session.reasons.sorted { $0.key < $1.key }
                .map { .init(row: Int64($0.key), text: $0.value) }
        }
        receipt.outcomes += deletions.map(\.rawValue)
        quarantined += Int64(try writer.quarantine(part.quarantined, session: session))
        try refreshHeads()
        return receipt
    }
}
