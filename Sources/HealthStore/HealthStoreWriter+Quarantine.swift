import HealthModel
import SQLite

extension HealthStoreWriter {
    /// Stores input that couldn't be understood. The same content is stored only once, whatever its line.
    /// - Returns: how many of them are new.
    @discardableResult
    package func quarantine(_ inputs: [QuarantinedInput], session: ImportSession) throws -> Int {
        try change { user in
            var added = 0
            for input in inputs { added += try setAside(input, from: session.source, user: user) }
            return added
        }
    }

    /// The same as above for one input, within a change.
    /// - Returns: 1 if the input is new.
    func setAside(_ input: QuarantinedInput, from source: String, user: Int) throws -> Int {
        try quarantine(
            digest(input.raw, reason: input.reason), sample: nil, source: source, line: input.line,
            reason: input.reason, raw: input.raw, user: user)
    }

    /// The same as above for a conflict. Content that a person has refused doesn't count as new, whatever has happened
    /// to the sample since.
    func setAside(_ conflict: RecordConflict, line: Int64, from source: String, user: Int) throws -> Int {
        let keys = keys(of: conflict)
        let find = try database.prepare("SELECT 1 FROM quarantine WHERE user = ? AND content = ?")
        find.bind(1, user)
        find.bind(2, keys.former)
        if try find.firstRow({ _ in true }) ?? false {
            try sawAgain(keys.former, user: user)
            return 0
        }
        return try quarantine(
            keys.current, sample: nil, source: source, line: line, reason: RecordConflict.reason, raw: conflict.json,
            user: user)
    }

    /// For each of these inputs, whether a person has dropped it: a dropped input is refused like a deleted sample, and
    /// is no longer quarantined. Changes nothing.
    package func areDropped(_ inputs: [QuarantinedInput]) throws -> [Bool] {
        forgetWhatWasUndone()
        guard !inputs.isEmpty, let user = try users.existing(self.user) else { return inputs.map { _ in false } }
        return try inputs.map { try isDropped(digest($0.raw, reason: $0.reason), user: user) }
    }

    /// Whether a person has decided against a conflict's content.
    func isDropped(_ conflict: RecordConflict, user: Int) throws -> Bool {
        let keys = keys(of: conflict)
        return try isDropped(keys.current, user: user) || isDropped(keys.former, user: user)
    }

    private func isDropped(_ content: SampleID, user: Int) throws -> Bool {
        let find = statements.findDropped
        find.bind(1, user)
        find.bind(2, content)
        return try find.firstRow { _ in true } ?? false
    }

    /// The key that identifies a conflict, and the key that it had in the release that introduced conflicts; the older
    /// key also depended on the content of the sample.
    func keys(of conflict: RecordConflict) -> (current: SampleID, former: SampleID) {
        (
            digest(conflict.identity, reason: RecordConflict.reason),
            digest(conflict.json, reason: RecordConflict.reason)
        )
    }

    private func digest(_ text: String, reason: String) -> SampleID {
        SampleID(
            SampleKeyPrefix(user: user, type: reason, sourceName: text), startSecond: 0, endSecond: 0, ordinal: 0)
    }

    /// Records why a sample is in quarantine.
    /// - Returns: 1 if the entry is new.
    @discardableResult
    func note(_ sample: SampleID, reason: String, line: Int64, source: String, user: Int) throws -> Int {
        try quarantine(sample, sample: sample, source: source, line: line, reason: reason, raw: "", user: user)
    }

    /// Keeps a sample from another store as text. The sample's id in the other store is recorded with the text, so that
    /// the entry can be forgotten later.
    /// - Returns: 1 if the entry is new.
    func keepApart(_ id: SampleID, raw: String, reason: String, source: String, user: Int) throws -> Int {
        try quarantine(
            contentNumber(of: id), sample: nil, source: source, line: 0, reason: reason, raw: raw, user: user)
    }

    /// Whether the quarantine may contain anything from another store as text.
    func mayKeepApart(from source: String, user: Int) throws -> Bool {
        let find = try database.prepare(
            "SELECT 1 FROM quarantine WHERE user = ? AND source = ? AND sample IS NULL AND dropped = 0 LIMIT 1")
        find.bind(1, user)
        find.bind(2, source)
        return try find.firstRow { _ in true } ?? false
    }

    /// Forgets that a sample was quarantined, whether as a row or (if it is from another store) as text, unless it was
    /// dropped.
    /// - Returns: how many entries there were.
    func forgetQuarantined(_ id: SampleID, user: Int) throws -> Int {
        var forgotten = 0
        for content in [id, contentNumber(of: id)] {
            statements.forgetQuarantined.bind(1, user)
            statements.forgetQuarantined.bind(2, content)
            try statements.forgetQuarantined.run()
            forgotten += database.changes
        }
        return forgotten
    }

    private func contentNumber(of id: SampleID) -> SampleID {
        let prefix = SampleKeyPrefix(user: self.user, type: "followed", sourceName: id.description)
        return SampleID(prefix, startSecond: 0, endSecond: 0, ordinal: 0)
    }

    func rename(_ old: SampleID, to new: SampleID, user: Int) throws {
        let rename = statements.renameQuarantined
        rename.bind(1, new)
        rename.bind(2, old)
        rename.bind(3, user)
        try rename.run()
    }

    private func quarantine(
        _ content: SampleID, sample: SampleID?, source: String, line: Int64, reason: String, raw: String, user: Int
    ) throws -> Int {
        let add = statements.addQuarantine
        add.bind(1, user)
        add.bind(2, content)
        add.bind(3, sample)
        add.bind(4, source)
        add.bind(5, line)
        add.bind(6, reason)
        add.bind(7, raw)
        try add.run()
        let added = database.changes
        if added == 0 { try sawAgain(content, user: user) }
        return added
    }

    /// Records that something in quarantine has been received again.
    func sawAgain(_ content: SampleID, user: Int) throws {
        let count = statements.countQuarantined
        count.bind(1, user)
        count.bind(2, content)
        try count.run()
    }

    /// Checks quarantined samples against the current limits: those that pass get a new version and count like any
    /// other.
    /// - Returns: how many passed.
    package func retryQuarantined(_ entries: [QuarantineEntry], plausibility: PlausibilityRule) throws -> Int {
        try change { user in
            var passed = 0
            for entry in entries {
                guard let id = entry.sample else { continue }
                guard let old = try row(id: id, user: user), old.isKeptApart else {
                    // The sample was deleted in the meantime, or already counts.
                    try forgetQuarantined(entry)
                    continue
                }
                let reason = SampleGuard.reason(
                    start: old.start, end: old.end, value: old.value, rule: plausibility(try typeName(old.type)))
                if let reason {
                    try note(again: entry, reason: reason)
                    continue
                }
                var row = old
                row.state = .alive
                try rewrite(&row, was: old, user: user)
                try forgetQuarantined(entry)
                passed += 1
            }
            return passed
        }
    }

    /// Drops what is in quarantine, permanently: a dropped sample or input is refused when it arrives again.
    package func dropQuarantined(_ entries: [QuarantineEntry]) throws {
        try change { user in
            for entry in entries {
                if let id = entry.sample {
                    if let row = try row(id: id, user: user), row.isKeptApart {
                        try leaveTombstone(row, as: .deleted, user: user)
                    }
                    try forgetQuarantined(entry)
                } else {
                    // The digest of the content is kept so that it can be refused; the content itself is deleted.
                    let drop = try database.prepare("UPDATE quarantine SET dropped = 1, raw = '' WHERE number = ?")
                    drop.bind(1, entry.number)
                    try drop.run()
                }
            }
        }
    }

    /// Forgets those inputs of a file that were quarantined for these reasons; dropped inputs stay dropped.
    /// - Returns: how many.
    package func forgetInputs(of source: String, reasons: [String]) throws -> Int {
        try change { user in
            let delete = try database.prepare(
                "DELETE FROM quarantine WHERE user = ? AND source = ? AND reason = ? AND sample IS NULL AND dropped = 0"
            )
            var forgotten = 0
            for reason in reasons {
                delete.bind(1, user)
                delete.bind(2, source)
                delete.bind(3, reason)
                try delete.run()
                forgotten += database.changes
            }
            return forgotten
        }
    }

    /// Forgets that something was quarantined.
    package func forgetQuarantined(_ entry: QuarantineEntry) throws {
        let delete = try database.prepare("DELETE FROM quarantine WHERE number = ?")
        delete.bind(1, entry.number)
        try delete.run()
    }

    private func note(again entry: QuarantineEntry, reason: String) throws {
        guard reason != entry.reason else { return }
        let write = try database.prepare("UPDATE quarantine SET reason = ? WHERE number = ?")
        write.bind(1, reason)
        write.bind(2, entry.number)
        try write.run()
    }

    private func typeName(_ type: Int) throws -> String {
        let query = try database.prepare("SELECT name FROM types WHERE id = ?")
        query.bind(1, type)
        guard let name = try query.firstRow({ $0.string(0) }) else {
            throw HealthStoreError.danglingName(table: "types", id: type)
        }
        return name
    }
}

extension StoredRow {
    /// Whether a row named in the quarantine is still waiting there. If a row counted before it was quarantined, its
    /// state is `absent`, so that anyone who had it learns that it no longer exists.
    fileprivate var isKeptApart: Bool { state == .quarantined || state == .absent }
}

/// Why a sample can't be true, without giving its value. The caller's rule is applied, within limits that no sample
/// from any channel may exceed.
enum SampleGuard {
    static func reason(
        start: Int64, end: Int64, value: Double, rule: (Double, Instant, Instant) -> String?
    ) -> String? {
        let first = Instant(microseconds: start)
        let last = Instant(microseconds: end)
        if end < start { return "it ends before it starts" }
        guard SampleTimes.mayStart(first), last <= SampleTimes.latest || last == SampleTimes.goesOn else {
            return "its dates are out of range"
        }
        guard last == SampleTimes.goesOn || end - start <= SampleTimes.longest else {
            return "it lasts longer than any sample can"
        }
        return rule(value, first, last)
    }
}
