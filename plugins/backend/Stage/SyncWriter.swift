import HTTP
import HealthModel
import JSON
import SQLite

/// Writes the elements of requests to the tables, each request in a transaction that it opens and commits.
final class SyncWriter {
    private let database: Database
    let texts: InternedTexts
    private let kinds: SampleKinds
    private let batches: SyncBatches
    let samples: SampleTable
    private let documents: DocumentTable
    private let tallies: Tallies
    let audit: AcceptanceAudit?
    private let log: ChangesLog
    private let identity: BackendIdentity
    /// The owner of elements that name no user.
    private let unnamed: String

    init(
        _ database: Database, texts: InternedTexts, kinds: SampleKinds, identity: BackendIdentity, log: ChangesLog,
        unnamed: String, audit: Bool
    ) throws {
        (self.database, self.texts, self.identity, self.log, self.unnamed) = (database, texts, identity, log, unnamed)
        let replaced = try ReplacedRow(database)
        self.kinds = kinds
        samples = try SampleTable(database, texts: texts, kinds: kinds, replaced: replaced)
        batches = try SyncBatches(database)
        documents = try DocumentTable(database, replaced: replaced)
        tallies = try Tallies(database)
        self.audit = audit ? try AcceptanceAudit(database) : nil
    }

    /// - Returns: the outcome of each element, all committed.
    func write(_ envelope: SyncEnvelope, metric: SyncMetric, now: Instant) throws -> SyncOutcome {
        try write {
            try batch(user: envelope.user, device: envelope.device?.text, syncedAt: envelope.syncedAt ?? now)
        } elements: { batch, outcome in
            // Deletions come first: a manual sample may replace a deleted one of the same moment.
            let lists = envelope.lists.filter(\.list.deletes) + envelope.lists.filter { !$0.list.deletes }
            for (list, elements) in lists {
                var scanner = JSONScanner(elements.bytes)
                try scanner.beginArray()
                var index = 0
                while try scanner.nextElement() {
                    if let kind = metric.documentKind(list) {
                        try writeDocument(kind, &scanner, list, index, batch, &outcome)
                    } else {
                        try writeSample(&scanner, list, index, batch, &outcome)
                    }
                    index += 1
                }
            }
        }
    }

    /// - Parameters:
    ///   - user: nil for the owner of elements that name no user.
    ///   - device: nil for none.
    func batch(user: String?, device: String?, syncedAt: Instant) throws -> SyncBatch {
        SyncBatch(
            user: try texts.id(of: user ?? unnamed), device: try texts.id(of: device ?? ""), syncedAt: syncedAt,
            number: batches.next)
    }

    /// Handles one request in one transaction.
    func write(
        listsIDs: Bool = true, _ begin: () throws -> SyncBatch, elements: (SyncBatch, inout SyncOutcome) throws -> Void
    ) throws -> SyncOutcome {
        do {
            let (batch, outcome) = try database.transaction {
                var outcome = SyncOutcome(listsIDs: listsIDs)
                let batch = try begin()
                try elements(batch, &outcome)
                try tallies.commit(user: batch.user, outcome)
                try log.commit(user: batch.user)
                // A repeated request changes only the counters.
                if outcome.created + outcome.updated > 0 {
                    try batches.keep(batch)
                    try identity.advance()
                }
                return (batch, outcome)
            }
            if outcome.created + outcome.updated > 0 { batches.committed(batch.number) }
            identity.committed()
            return outcome
        } catch {
            // Ids and counts from a transaction that didn't commit must not be used by the next.
            texts.forget()
            kinds.forget()
            samples.forget()
            tallies.forget()
            log.forget()
            identity.forget()
            throw error
        }
    }

    /// Records what a written sample changes.
    func note(_ effect: SampleTable.Effect, _ id: ElementID) {
        tallies.move(effect)
        log.note(nil, id)
        if let other = effect.displaced { log.note(nil, other) }
    }

    private func writeSample(
        _ scanner: inout JSONScanner, _ list: SyncList, _ index: Int, _ batch: SyncBatch, _ outcome: inout SyncOutcome
    ) throws {
        let element = try SampleElement(&scanner)
        guard let span = element.id, let id = ElementID(span) else {
            return outcome.refuse(element.id, list, index: index, "id is missing")
        }
        guard let version = SampleElement.version(element.version) else {
            return outcome.refuse(span, list, index: index, "version isn't an integer")
        }
        let effect: SampleTable.Effect
        if list == .deleted {
            effect = try samples.delete(id: id, version: version, in: batch)
        } else {
            let start = SampleElement.date(element.startDate)
            let end = SampleElement.date(element.endDate)
            if let problem = element.problem(start: start, end: end) {
                return outcome.refuse(span, list, index: index, problem)
            }
            guard let start, let end else { return }
            effect = try samples.write(
                element.content(start: start, end: end, texts), id: id, version: version, in: batch)
        }
        if !effect.verdict.writes {
            let held = try samples.heldVersion(id, user: batch.user)
            outcome.add(effect.verdict, span, heldVersion: held == version ? nil : held)
        } else {
            note(effect, id)
            try audit?.count(user: batch.user, kind: -1, id: span.bytes, version: version, deleted: list == .deleted)
            outcome.add(effect.verdict, span)
        }
    }

    private func writeDocument(
        _ kind: DocumentKind, _ scanner: inout JSONScanner, _ list: SyncList, _ index: Int, _ batch: SyncBatch,
        _ outcome: inout SyncOutcome
    ) throws {
        let body = try scanner.value()
        let element = try DocumentElement(body, kind: kind)
        let deletes = list.deletes
        if let problem = element.problem(as: kind, deletes: deletes) {
            return outcome.refuse(element.isNamed ? element.key : nil, list, index: index, problem)
        }
        guard let span = element.key, let id = span.text, let version = SampleElement.version(element.version) else {
            return
        }
        let times = deletes ? DocumentTimes() : element.times(of: kind)
        let verdict = try documents.write(
            kind, id: id, version: version, times: times, body: deletes ? nil : body.bytes, in: batch)
        if !verdict.writes {
            let held = try documents.heldVersion(kind, id: id, user: batch.user)
            outcome.add(verdict, span, heldVersion: held == version ? nil : held)
        } else {
            log.note(kind, .text(id))
            try audit?.count(user: batch.user, kind: kind.rawValue, id: span.bytes, version: version, deleted: deletes)
            outcome.add(verdict, span)
        }
    }
}
