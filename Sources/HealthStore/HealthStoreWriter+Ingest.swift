import HealthModel
import SQLite

extension HealthStoreWriter {
    /// Stores a batch's records, each exactly once.
    ///
    /// A record claims a row that has its key and that the session hasn't claimed yet: the one with its HealthKit UUID;
    /// failing that, a current row whose value agrees; failing that, a row that a complete export lacked. If there is
    /// no such row, the record becomes a new row. A record whose sample was deleted permanently is refused. A known
    /// record changes nothing, unless its information is better: that is then merged into the row, as a new version.
    /// - Parameters:
    ///   - batch: the records, in any order and with any mixture of types; their values are in canonical units.
    ///   - session: the file or request that contains the batch.
    ///   - plausibility: applied to each new row.
    /// - Throws: `HealthStoreError`, `SQLiteError`; in either case, roll the transaction back.
    package func ingest(
        _ batch: RecordBatch, session: ImportSession, plausibility: PlausibilityRule
    ) throws -> IngestCounts {
        try batch.check()
        return try change { user in
            try join(session)
            return try take(batch, session, plausibility, user: user, isTrial: false)
        }
    }

    /// Finds out what `ingest` would do with a batch: the session's records claim their rows, but nothing is written.
    /// - Parameter session: a session used only for such calls.
    package func tryOut(
        _ batch: RecordBatch, session: ImportSession, plausibility: PlausibilityRule
    ) throws -> IngestCounts {
        try batch.check()
        forgetWhatWasUndone()
        try join(session)
        let user = try users.existing(self.user) ?? BatchIngest.unknown
        return try take(batch, session, plausibility, user: user, isTrial: true)
    }

    /// Records the names of the batch's sources.
    private func see(_ batch: RecordBatch, _ session: ImportSession, user: Int, isTrial: Bool) throws {
        let new = Set(batch.origins.map(\.sourceName)).subtracting(session.names.seen)
        guard !new.isEmpty else { return }
        session.names.seen.formUnion(new)
        guard !isTrial, let moment = session.moment else { return }
        try names.see(new, at: moment.at, user: user)
    }

    func take(
        _ batch: RecordBatch, _ session: ImportSession, _ plausibility: PlausibilityRule, user: Int, isTrial: Bool
    ) throws -> IngestCounts {
        var counts = IngestCounts()
        try see(batch, session, user: user, isTrial: isTrial)
        session.claimed = [SequenceNumber](repeating: .beginning, count: batch.count)
        if session.reportsOutcomes {
            session.outcomes = [RecordOutcome](repeating: .quarantined, count: batch.count)
            session.reasons = [:]
        }
        // A trial run adds no name to the store: new names from its earlier batches are kept in the session.
        var newTypes = isTrial ? session.triedTypes : []
        var newUnits = isTrial ? session.triedUnits : []
        let refused = RefusedNames(
            types: try types.refused(batch.types, besides: &newTypes),
            units: try units.refused(batch.units, besides: &newUnits))
        if isTrial { (session.triedTypes, session.triedUnits) = (newTypes, newUnits) }
        try batch.metadata.bytes.withUnsafeBytes { metadata in
            try batch.payload.bytes.withUnsafeBytes { payload in
                let ingest = try BatchIngest(
                    batch, metadata: metadata, payload: payload, writer: self, session: session, user: user,
                    isTrial: isTrial, refusedUnits: refused.units)
                for (type, all) in batch.rowsByType() {
                    let name = batch.types[type]
                    var rows = all
                    if !refused.isEmpty {
                        let others = all.filter { refused.contains($0, batch) }
                        rows = all.filter { !refused.contains($0, batch) }
                        let tally = try keepApart(others, refused, batch, session, isTrial: isTrial)
                        counts.total += tally
                        counts.byType[
                            refused.types.contains(name) ? IngestCounts.otherTypes : name, default: .init()] += tally
                    }
                    if rows.isEmpty { continue }
                    let tally = try ingest.run(type: name, rows: rows, plausibility: plausibility(name))
                    counts.total += tally
                    counts.byType[name, default: IngestCounts.Tally()] += tally
                }
            }
        }
        if !isTrial {
            try learn(
                batch, session, types: batch.types.map { try types.existing($0) ?? BatchIngest.unknown }, user: user)
            if session.isRewriting { return counts }
            try noteBrought(by: session, user: user)
            try noteWorkouts(batch, session, user: user)
            if session.isPushed { try NameLinks(writer: self, session: session, user: user).linkPushed() }
            try noteTimes(of: session, user: user)
            if session.isFile, let bringer = session.bringerNumber {
                let new = session.names.seen.subtracting(session.names.mentioned)
                if !new.isEmpty { try names.mention(new, by: bringer, user: user) }
                session.names.mentioned.formUnion(new)
            }
        }
        return counts
    }
}

extension RecordBatch {
    /// Row numbers by type, ordered by start and value: index neighbours then follow each other, and rows with the same
    /// key get their ordinals by value, not by their place in the input.
    fileprivate func rowsByType() -> [(type: Int, rows: [Int])] {
        var groups: [Int: [Int]] = [:]
        var order: [Int] = []
        var row = 0
        while row < count {
            let kind = type[row]
            let first = row
            while row < count, type[row] == kind { row += 1 }
            if groups[Int(kind)] == nil { order.append(Int(kind)) }
            groups[Int(kind), default: []].append(contentsOf: first..<row)
        }
        return order.map { kind in
            var rows = groups[kind] ?? []
            let precedes = { (a: Int, b: Int) -> Bool in
                let seconds = (startOf(a).flooredSecond, startOf(b).flooredSecond)
                if seconds.0 != seconds.1 { return seconds.0 < seconds.1 }
                if StoredValue.isAfter(value[b], value[a]) { return true }
                return !StoredValue.isAfter(value[a], value[b]) && a < b
            }
            if !zip(rows, rows.dropFirst()).allSatisfy({ precedes($0, $1) }) { rows.sort(by: precedes) }
            return (kind, rows)
        }
    }

    fileprivate func check() throws {
        let rows = count
        let columns: [(String, Int)] = [
            ("start", start.count), ("end", end.count), ("value", value.count), ("unit", unit.count),
            ("origin", origin.count),
            ("created", created.count), ("flags", flags.count), ("metadata", metadata.count),
            ("payload", payload.count),
            ("healthKitUUID", healthKitUUID.count), ("line", line.count),
        ]
        let optional: Set = ["metadata", "payload", "healthKitUUID", "line"]
        for (name, length) in columns where length != rows && !(length == 0 && optional.contains(name)) {
            throw HealthStoreError.malformedBatch("\(length) rows of \(name) for \(rows) of type")
        }
        for (name, column, limit) in [
            ("type", type, types.count), ("unit", unit, units.count), ("origin", origin, origins.count),
        ] where !column.allSatisfy({ $0 >= 0 && $0 < limit }) {
            throw HealthStoreError.malformedBatch("an index of \(name) points beyond its \(limit) names")
        }
    }
}
