import HealthModel
import HealthStore
import Protocol

/// Pushed requests while their parts are being stored: which rows their records have claimed, and the last answer,
/// since an answer may get lost. Kept only in memory: after a restart a request begins again, and finds that its first
/// parts are already stored.
struct IngestDesk {
    private struct Request {
        /// nil once the request's last part is stored.
        let session: ImportSession?
        var receipt: IngestReceipt
        var heard: MonotonicTime
    }

    /// What to do with a part.
    enum Step {
        case take(ImportSession)
        /// The part was already stored: the answer got lost, or is still on its way.
        case answered(IngestReceipt)
        case beginAgain
    }

    /// Once there are more than `limit` requests, those not continued for this long are forgotten first: their senders
    /// have given up.
    static let patience = Duration.seconds(60)
    /// There are never more than this in progress; if there were, the oldest would be forgotten, and would begin again
    /// when continued.
    static let limit = 1024

    private var requests: [String: Request] = [:]

    mutating func step(_ part: IngestPart, at now: MonotonicTime, _ wall: Instant) -> Step {
        guard let request = requests[part.id] else {
            guard part.number == 0 else { return .beginAgain }
            return .take(
                ImportSession(
                    source: part.way, bringer: .device(part.device, way: part.way), pushed: wall, reportsOutcomes: true)
            )
        }
        requests[part.id]?.heard = now
        if part.number == request.receipt.part { return .answered(request.receipt) }
        guard let session = request.session, part.number == request.receipt.part + 1 else { return .beginAgain }
        return .take(session)
    }

    /// - Parameter session: nil when no more parts follow.
    mutating func note(_ receipt: IngestReceipt, _ session: ImportSession?, at now: MonotonicTime) {
        requests[receipt.id] = Request(session: session, receipt: receipt, heard: now)
        guard requests.count > Self.limit else { return }
        requests = requests.filter { now - $0.value.heard < Self.patience }
        while requests.count > Self.limit, let oldest = requests.min(by: { $0.value.heard < $1.value.heard }) {
            requests[oldest.key] = nil
        }
    }
}
