import HealthModel
import SQLite

/// The table `quarantine`: samples that can't be true, inputs that weren't understood, contents that contradict a sample,
/// and samples of another store that are kept as text. Its entries are identified by what they contain; the same content
/// is listed only once.
final class QuarantineTable {
    private let user: String
    private let database: Database
    private let insert: Statement
    private let count: Statement
    private let setSample: Statement
    private let drop: Statement
    private let dropNumber: Statement
    private let dropInputs: Statement
    private let find: Statement
    private let findText: Statement
    private let findConflicts: Statement
    private let refuse: Statement
    private let refuseNumber: Statement
    private let setReason: Statement
    private let setContent: Statement

    /// - Parameter user: whose entries they are, as the keys of contents depend on it.
    init(in database: Database, of user: String) throws {
        (self.user, self.database) = (user, database)
        insert = try database.prepare(
            """
            INSERT INTO quarantine (user, content, sample, source, line, reason, raw) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user, content) DO NOTHING
            """)
        count = try database.prepare("UPDATE quarantine SET seen = seen + 1 WHERE user = ? AND content = ?")
        setSample = try database.prepare(
            "UPDATE quarantine SET sample = ?1, content = ?1 WHERE user = ?3 AND sample = ?2")
        drop = try database.prepare("DELETE FROM quarantine WHERE user = ? AND content = ? AND dropped = 0")
        dropNumber = try database.prepare("DELETE FROM quarantine WHERE number = ?")
        dropInputs = try database.prepare(
            "DELETE FROM quarantine WHERE user = ? AND source = ? AND reason = ? AND sample IS NULL AND dropped = 0")
        find = try database.prepare("SELECT dropped FROM quarantine WHERE user = ? AND content = ?")
        findText = try database.prepare(
            "SELECT 1 FROM quarantine WHERE user = ? AND source = ? AND sample IS NULL AND dropped = 0 LIMIT 1")
        findConflicts = try database.prepare(
            "SELECT number, raw FROM quarantine WHERE user = ? AND reason = ? AND dropped = 0 AND number <> ?")
        refuse = try database.prepare(
            "UPDATE quarantine SET dropped = 1, raw = '' WHERE user = ? AND content IN (?, ?)")
        refuseNumber = try database.prepare("UPDATE quarantine SET dropped = 1, raw = '' WHERE number = ?")
        setReason = try database.prepare("UPDATE quarantine SET reason = ? WHERE number = ?")
        setContent = try database.prepare("UPDATE OR IGNORE quarantine SET raw = ?, content = ? WHERE number = ?")
    }

    // MARK: Keys

    /// The key that identifies a conflict, and the key that it had in the release that introduced conflicts; the older
    /// key also depended on the content of the sample.
    private func keys(of conflict: RecordConflict) -> (current: SampleID, former: SampleID) {
        (digest(conflict.identity, RecordConflict.reason), digest(conflict.json, RecordConflict.reason))
    }

    private func key(of input: QuarantinedInput) -> SampleID { digest(input.raw, input.reason) }

    /// The key under which a sample of another store is kept as text.
    private func key(ofFollowed id: SampleID) -> SampleID { digest(id.description, "followed") }

    private func digest(_ text: String, _ kind: String) -> SampleID {
        SampleID(SampleKeyPrefix(user: user, type: kind, sourceName: text), startSecond: 0, endSecond: 0, ordinal: 0)
    }

    // MARK: Adding. Each returns 1 if the entry is new.

    /// Adds input that couldn't be understood, whatever its line.
    func add(_ input: QuarantinedInput, from source: String, user: Int) throws -> Int {
        try add(key(of: input), source: source, line: input.line, reason: input.reason, raw: input.raw, user: user)
    }

    /// Adds a conflict. Content that a person has refused doesn't count as new, whatever has happened to the sample
    /// since.
    func add(_ conflict: RecordConflict, line: Int64, from source: String, user: Int) throws -> Int {
        let keys = keys(of: conflict)
        if try find.with(user, keys.former).hasRow() {
            try sawAgain(keys.former, user: user)
            return 0
        }
        return try add(
            keys.current, source: source, line: line, reason: RecordConflict.reason, raw: conflict.json, user: user)
    }

    /// Records why a sample that is stored is in quarantine.
    @discardableResult
    func add(_ sample: SampleID, reason: String, line: Int64, source: String, user: Int) throws -> Int {
        try add(sample, sample: sample, source: source, line: line, reason: reason, raw: "", user: user)
    }

    /// Adds a sample from another store as text. The sample's id in the other store is recorded with the text, so that
    /// the entry can be forgotten later.
    func add(followed id: SampleID, raw: String, reason: String, source: String, user: Int) throws -> Int {
        try add(key(ofFollowed: id), source: source, line: 0, reason: reason, raw: raw, user: user)
    }

    private func add(
        _ content: SampleID, sample: SampleID? = nil, source: String, line: Int64, reason: String, raw: String,
        user: Int
    ) throws -> Int {
        try insert.with(user, content, sample, source, line, reason, raw).run()
        let added = database.changes
        if added == 0 { try sawAgain(content, user: user) }
        return added
    }

    // MARK: Asking

    /// Whether a person has dropped an input.
    func isDropped(_ input: QuarantinedInput, user: Int) throws -> Bool { try isDropped(key(of: input), user: user) }

    /// Whether a person has decided against a conflict's content.
    func isDropped(_ conflict: RecordConflict, user: Int) throws -> Bool {
        let keys = keys(of: conflict)
        return try isDropped(keys.current, user: user) || isDropped(keys.former, user: user)
    }

    private func isDropped(_ content: SampleID, user: Int) throws -> Bool {
        try find.with(user, content).firstRow { $0.int(0) == 1 } ?? false
    }

    /// Whether there may be anything from another store as text.
    func mayHoldText(from source: String, user: Int) throws -> Bool { try findText.with(user, source).hasRow() }

    // MARK: Changing

    /// Records that something in quarantine has been received again.
    func sawAgain(_ content: SampleID, user: Int) throws { try count.with(user, content).run() }

    /// A sample in quarantine has another id.
    func rename(_ old: SampleID, to new: SampleID, user: Int) throws { try setSample.with(new, old, user).run() }

    func set(_ reason: String, of entry: QuarantineEntry) throws {
        if reason != entry.reason { try setReason.with(reason, entry.number).run() }
    }

    /// The content of an input is refused from now on: only its key is kept.
    func refuse(_ entry: QuarantineEntry) throws { try refuseNumber.with(entry.number).run() }

    /// The content that wasn't chosen may arrive again whenever an old request is repeated; it is then refused
    /// silently.
    func refuse(_ conflict: RecordConflict, from source: String, user: Int) throws {
        _ = try add(conflict, line: 0, from: source, user: user)
        let keys = keys(of: conflict)
        try refuse.with(user, keys.current, keys.former).run()
    }

    /// Updates a sample's other conflicts with its new content. A conflict about exactly that content is resolved.
    func show(
        _ now: RecordConflict.Content, type: String, inConflictsOf uuid: String, besides number: Int64, user: Int
    ) throws {
        let others = try findConflicts.with(user, RecordConflict.reason, number).rows {
            (number: $0.int64(0), conflict: RecordConflict(json: $0.string(1)))
        }
        for (number, conflict) in others {
            guard var conflict, conflict.uuid == uuid else { continue }
            conflict.kept = conflict.type == type ? now : nil
            if conflict.isOpen {
                try setContent.with(conflict.json, keys(of: conflict).current, number).run()
                if database.changes > 0 { continue }
            }
            // If a conflict's new key is already taken, the same content is already listed or refused.
            try dropNumber.with(number).run()
        }
    }

    // MARK: Forgetting. What a person has dropped stays dropped.

    func forget(_ entry: QuarantineEntry) throws { try dropNumber.with(entry.number).run() }

    /// Forgets that a sample was quarantined, whether as a row or (if it is from another store) as text.
    /// - Returns: how many entries there were.
    func forget(_ id: SampleID, user: Int) throws -> Int {
        try [id, key(ofFollowed: id)].reduce(0) { forgotten, content in
            try drop.with(user, content).run()
            return forgotten + database.changes
        }
    }

    /// Forgets those inputs of a file that were quarantined for this reason.
    /// - Returns: how many.
    func forgetInputs(of source: String, reason: String, user: Int) throws -> Int {
        try dropInputs.with(user, source, reason).run()
        return database.changes
    }
}
