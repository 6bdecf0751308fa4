import Changelog
import HealthImport
import HealthModel
import HealthPush
import HealthStore
import ObserverReading
import Protocol
import StageKit

/// Inputs that weren't understood, to be read again.
package struct RereadRequest: Sendable {
    /// `source`: the path that it was pushed to, or the file that it is from.
    package var inputs: [(number: Int64, raw: String, source: String)]

    package init(inputs: [(number: Int64, raw: String, source: String)]) { self.inputs = inputs }
}

/// The results under the current rules: the records that are now understood, by number.
package struct RereadReply: Sendable {
    package var records: [Int64: RecordBatch]

    package init(_ request: RereadRequest) {
        records = [:]
        for (number, raw, source) in request.inputs {
            if let way = WayIn.of(item: raw, from: source) {
                records[number] = way.records(in: raw)
                continue
            }
            var batch: RecordBatch?
            // Nothing is found in an input that still can't be understood; nothing else can fail in memory.
            let isRecord = try? ExportReader.reread(element: raw) { if case .records(let found) = $0 { batch = found } }
            if isRecord == true, let batch { records[number] = batch }
        }
    }
}

/// One pass over the quarantine, in steps.
struct QuarantineRepair {
    let selection: RepairSelection
    let isRetry: Bool
    /// Entries up to this number have been dealt with.
    var after: Int64 = 0
    var left: Int64
    /// Inputs being read again, by number, and the effect that reads them.
    var rereading: (effect: Int64, entries: [QuarantineEntry])?
    var tried: Int64 = 0
    var passed: Int64 = 0
    var isDone = false

    static let step = 500

    var state: RepairOutcome {
        guard isDone else { return .underWay(left: max(1, left), goesOn: rereading == nil) }
        return .done(
            isRetry
                ? ["tried": .integer(tried), "passed": .integer(passed), "still": .integer(tried - passed)]
                : ["dropped": .integer(tried)])
    }
}

extension ObserverStage {
    package func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        (undoing, doubling) = (nil, nil)
        switch request.action {
        case "undo": return try undo(request, turn)
        case "doubles": return try beginDoubles(request, turn)
        case "leaveOut": return try leaveOut(request, turn)
        case "cancel": return try cancel(request, turn)
        case "settle": return try settle(request, turn)
        case "own":
            guard let own = request.own else { return .refused("this release doesn't know what is requested") }
            return Self.repaired(try answer(own, of: request.user ?? defaultUser, from: nil, turn))
        case "retry", "drop":
            repair = QuarantineRepair(
                selection: request.selection, isRetry: request.action == "retry", left: quarantined)
            return .underWay(left: max(1, quarantined), goesOn: true)
        case "reset":
            return .refused(
                "an observer can't be reset: it holds the only copy of the samples; to compute figures again, reset their handler,"
                    + " or to start from scratch make a backup, stop the stack and remove its state folder")
        case "replay":
            return .refused("an observer can't be replayed; import the file again: a repeat changes nothing")
        case let other: return .refused("an observer doesn't support '\(other)'")
        }
    }

    /// Everybody can read a heartbeat, so the outcome contains no content.
    private static func repaired(_ answer: OwnAnswer) -> RepairOutcome {
        guard answer.isRefusal else {
            return .done(.object((answer.body.object ?? [:]).filter { ["id", "version"].contains($0.key) }))
        }
        return .refused([answer.body["error"], answer.body["hint"]].compactMap(\.string).joined(separator: "; "))
    }

    /// One step.
    package func repaired(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        if let state = try goOnLeavingOut(for: request, turn) ?? goOnUndoing(turn) ?? goOnDoubles(turn) {
            return state
        }
        guard var job = repair else { return .done([:]) }
        defer { repair = job }
        guard !job.isDone, job.rereading == nil else { return job.state }
        let reader = try HealthStoreReader(database: try turn.write().database)
        let page = try reader.quarantinedRecords(
            after: job.after, limit: QuarantineRepair.step, naming: WayIn.names)
        let chosen = page.filter {
            job.selection.takes(number: $0.entry.number, reason: $0.entry.reason, type: $0.type ?? "")
        }
        .map(\.entry)
        for (user, entries) in Dictionary(grouping: chosen, by: \.user).sorted(by: { $0.key < $1.key }) {
            let writer = try writer(for: user, turn)
            if job.isRetry {
                job.passed += Int64(try writer.retryQuarantined(entries, plausibility: Self.plausibility(at: turn.now)))
            } else {
                try writer.dropQuarantined(entries)
            }
        }
        job.tried += Int64(chosen.count)
        job.after = page.last?.entry.number ?? job.after
        job.left -= Int64(page.count)
        let inputs = job.isRetry ? chosen.filter { $0.sample == nil } : []
        if !inputs.isEmpty {
            let effect = turn.perform(RereadRequest(inputs: inputs.map { ($0.number, $0.raw, $0.source) }))
            job.rereading = (effect, inputs)
        }
        job.isDone = page.count < QuarantineRepair.step && job.rereading == nil
        try refreshQuarantined(turn)
        return job.state
    }

    /// Stores what is understood now.
    func take(_ reply: RereadReply, _ id: Int64, _ turn: Turn) throws {
        guard var job = repair, let (effect, entries) = job.rereading, effect == id else { return }
        job.rereading = nil
        for entry in entries {
            guard var batch = reply.records[entry.number] else { continue }
            try complete(&batch, by: WayIn.of(item: entry.raw, from: entry.source), of: entry.user, turn)
            let writer = try writer(for: entry.user, turn)
            _ = try turn.write()
            let session = ImportSession(source: entry.source, reportsOutcomes: true)
            let counts = try writer.ingest(
                batch, session: session, plausibility: Self.plausibility(at: turn.now))
            try zones.observe(batch, user: entry.user, turn)
            try raiseVersions(of: batch, session, user: entry.user, turn)
            // An input that still contradicts its sample stays in quarantine.
            guard counts.total.conflicts == 0 else { continue }
            try writer.forgetQuarantined(entry)
            if counts.total.quarantined == 0 { job.passed += 1 }
        }
        repair = job
        try refreshQuarantined(turn)
    }

    func refreshQuarantined(_ turn: Turn) throws {
        quarantined = Int64(try HealthStoreReader(database: turn.database).quarantineCount())
        try refreshHeads()
    }
}
