import Foundation
import Glibc
import HealthModel
import Protocol
import SQLite

/// A stage's one SQLite file: it holds the stage's identity, sequence number and epoch, and commits outputs and anchors
/// in one transaction.
///
/// Owned by the stage's thread. Sequence numbers rise strictly, with gaps. They depend on no clock: a store begins at 1,
/// and each of its generations a fixed distance beyond the one before. Whoever delivers to a destination that already
/// holds higher versions, from a store that was lost, has the store raised above them (`raise`).
package final class StageDatabase {
    package let database: Database
    package let store: String
    package private(set) var generations: [Generation]
    package let epoch: Int64

    package struct Generation: Sendable, Equatable {
        package var nonce: String
        /// The first sequence number that belongs to the generation.
        package var first: SequenceNumber
        /// An older generation's anchor beyond this isn't valid. It is the store's sequence number when the generation
        /// began; if everything is to be read again (`beginsAgain`), the one before the store's first.
        package var after: SequenceNumber
    }

    /// A process that writes to the store, from its first row on: see `StoreHead.incarnation`.
    private let incarnation = UUID().uuidString.lowercased()
    /// The incarnation of the newest rows, and where this one began.
    private var newest: String?
    private let opened: SequenceNumber

    private var lastSequence: SequenceNumber
    private var raised: StoreHead.Gap?
    private var sequenceUsed = false
    private let readEpoch: Statement
    private let writeMeta: Statement
    private let writeMoment: Statement
    /// How many commits are left until moments are thinned again.
    private var momentsLeft = 0
    private static let momentsPerThinning = 1024

    /// The version of these tables; a file with a newer one is refused rather than guessed at.
    static let schemaVersion: Int64 = 1

    /// Opens or creates the file and takes it over: the epoch rises, so that an earlier owner's next transaction fails.
    package convenience init(path: String) throws {
        try Self.prepare(path)
        try self.init(Database(path: path))
    }

    /// The same with a connection that is open already.
    package init(_ database: Database) throws {
        let path = database.path
        self.database = database
        let meta = try database.transaction {
            try database.execute(
                """
                CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS generations(first INTEGER PRIMARY KEY, nonce TEXT NOT NULL);
                CREATE TABLE IF NOT EXISTS incarnations(
                    epoch INTEGER PRIMARY KEY, nonce TEXT NOT NULL UNIQUE, after INTEGER NOT NULL);
                \(Moments.table);
                """)
            let read = try database.prepare("SELECT value FROM meta WHERE key = ?")
            let write = try database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)")
            func integer(_ key: String) throws -> Int64? { try read.with(key).firstRow { $0.int64(0) } }
            func set(_ key: String, _ value: any Bindable) throws { try write.with(key, value).run() }
            if let version = try integer("schema"), version > Self.schemaVersion {
                throw ChangelogError.newerSchema(path: path, found: version, known: Self.schemaVersion)
            }
            try set("schema", Self.schemaVersion)
            let known = try read.with("store").firstRow { $0.string(0) }
            let store = known ?? UUID().uuidString.lowercased()
            if known == nil { try set("store", store) }
            let last = try integer("last_sequence") ?? 0
            let epoch = (try integer("epoch") ?? 0) + 1
            try set("epoch", epoch)
            return (store: store, last: last, epoch: epoch)
        }
        store = meta.store
        epoch = meta.epoch
        lastSequence = SequenceNumber(meta.last)
        opened = lastSequence
        generations = []
        readEpoch = try database.prepare("SELECT value FROM meta WHERE key = 'epoch'")
        writeMeta = try database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)")
        writeMoment = try database.prepare("INSERT OR REPLACE INTO moments VALUES (?, ?)")
        if try !Self.knowsReach(database) {
            try transaction { try database.execute("ALTER TABLE generations ADD COLUMN after INTEGER") }
        }
        generations = try Self.generations(in: database)
        newest = try Self.newest(in: database)
        raised = try Self.raised(in: database)
        if generations.isEmpty { try transaction { try beginGeneration() } }
    }

    /// Creates the file if there is none, and never leaves it without content. So an empty file must have been emptied,
    /// and isn't mistaken for a new one.
    private static func prepare(_ path: String) throws {
        let files = FileManager.default
        if files.fileExists(atPath: path) { return try requireContent(at: path) }
        // A write-ahead log belongs to the one file that it was written beside, but would be applied to any other file
        // put in that place.
        if let log = try? files.attributesOfItem(atPath: path + "-wal")[.size] as? Int, log > 0 {
            throw SQLiteError(damaged: path, "it is missing, though its log exists")
        }
        let draft = path + ".new"
        for ending in ["", "-wal", "-shm"] where files.fileExists(atPath: draft + ending) {
            try files.removeItem(atPath: draft + ending)
        }
        // Created here with its permissions, so that others can't read it even for a moment. If that fails, opening the
        // file reports why.
        _ = files.createFile(atPath: draft, contents: nil, attributes: [.posixPermissions: 0o600])
        try begin(draft)
        try files.moveItem(atPath: draft, toPath: path)
        try syncFolder(of: path)
    }

    /// For readers of a stopped stage's file: refuses one that was emptied, before anything is written to it.
    package static func requireContent(at path: String) throws {
        guard try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 0 else { return }
        throw SQLiteError(damaged: path, "it is empty: what it held is gone")
    }

    /// Makes the renaming durable: otherwise a power loss could destroy the store and everything committed since.
    private static func syncFolder(of path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    /// Writes the first page; when this returns, the connection is closed and its log is gone.
    private static func begin(_ path: String) throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID")
        withExtendedLifetime(database) {}
    }

    /// Stores from the first releases don't record how far a generation reached.
    private static func knowsReach(_ database: Database) throws -> Bool {
        try database.hasColumn("after", in: "generations")
    }

    private static func generations(in database: Database) throws -> [Generation] {
        let reach = try knowsReach(database) ? "coalesce(after, first - 1)" : "first - 1"
        return try database.prepare("SELECT nonce, first, \(reach) FROM generations ORDER BY first").rows {
            Generation(nonce: $0.string(0), first: SequenceNumber($0.int64(1)), after: SequenceNumber($0.int64(2)))
        }
    }

    private static func newest(in database: Database) throws -> String? {
        guard try database.hasColumn("nonce", in: "incarnations") else { return nil }
        return try database.prepare("SELECT nonce FROM incarnations ORDER BY epoch DESC LIMIT 1").firstRow {
            $0.string(0)
        }
    }

    package var head: StoreHead {
        Self.head(store, generations, sequenceUsed ? incarnation : newest, lastSequence, raised)
    }

    private static func head(
        _ store: String, _ generations: [Generation], _ incarnation: String?, _ sequence: SequenceNumber,
        _ raised: StoreHead.Gap?
    ) -> StoreHead {
        var head = StoreHead(store: store, generation: "", sequence: sequence, incarnation: incarnation)
        guard let oldest = generations.first, let newest = generations.last else { return head }
        head.generation = newest.nonce
        head.first = oldest.first
        // After a generation that invalidates older anchors, everything is read again: nothing is continued.
        if newest.first > oldest.first, newest.after >= oldest.first {
            head.gap = StoreHead.Gap(after: newest.after, first: newest.first)
        }
        if let raised, raised.first > newest.first { head.gap = raised }
        return head
    }

    /// The latest sequence number given out.
    package var sequence: SequenceNumber { lastSequence }

    /// A new sequence number for a row in the current transaction.
    package func nextSequence() -> SequenceNumber {
        lastSequence.value += 1
        sequenceUsed = true
        return lastSequence
    }

    /// Runs one step: what `body` writes and the sequence numbers that it uses are committed together, or not at all.
    /// - Throws: `ChangelogError.fenced` if another process has taken over this store since.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try begin()
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            rollback()
            throw error
        }
    }

    /// Opens the step's transaction; `commit` or `rollback` must follow.
    package func begin() throws {
        try database.begin()
        let current = try readEpoch.firstRow { $0.int64(0) }
        guard current == epoch else {
            rollback()
            throw ChangelogError.fenced(path: database.path, ours: epoch, theirs: current ?? 0)
        }
    }

    /// - Parameter now: the time, stored to know later when a sequence number was committed.
    package func commit(at now: Instant? = nil) throws {
        if sequenceUsed {
            try writeMeta.with("last_sequence", lastSequence.value).run()
            try noteIncarnation()
            if let now { try note(now) }
        }
        try database.commit()
        sequenceUsed = false
    }

    /// With the first rows of this process, in their transaction.
    private func noteIncarnation() throws {
        guard newest != incarnation else { return }
        try database.prepare("INSERT INTO incarnations(epoch, nonce, after) VALUES (?, ?, ?)")
            .with(epoch, incarnation, opened.value).run()
        newest = incarnation
    }

    private func note(_ now: Instant) throws {
        try writeMoment.with(lastSequence.value, now.microseconds).run()
        momentsLeft -= 1
        if momentsLeft < 0 {
            momentsLeft = Self.momentsPerThinning
            try Moments.thin(database, now: now)
        }
    }

    /// Makes the next sequence number higher than `floor`.
    package func raise(above floor: SequenceNumber) throws {
        guard floor > lastSequence else { return }
        let gap = StoreHead.Gap(after: lastSequence, first: floor.next)
        for (key, value) in [("raised_after", gap.after), ("raised_first", gap.first)] {
            try writeMeta.with(key, value.value).run()
        }
        raised = gap
        lastSequence = floor
        sequenceUsed = true
    }

    /// The sequence numbers that were left out when the store was last raised.
    private static func raised(in database: Database) throws -> StoreHead.Gap? {
        let read = try database.prepare("SELECT value FROM meta WHERE key = ?")
        func number(_ key: String) throws -> SequenceNumber? {
            try read.with(key).firstRow { SequenceNumber($0.int64(0)) }
        }
        guard let after = try number("raised_after"), let first = try number("raised_first"), first > after else {
            return nil
        }
        return StoreHead.Gap(after: after, first: first)
    }

    package func rollback() { database.rollback() }

    package var isInTransaction: Bool { database.isInTransaction }

    /// What happens to the anchors of an older generation when a new one begins.
    package enum Continuity: Sendable {
        /// They are valid up to the store's current sequence number.
        case goesOn
        /// They become invalid: every consumer reads everything again.
        case beginsAgain
    }

    /// How far beyond its predecessor a generation begins: further than a copy of the store can have got since the two
    /// parted. It lets some four million generations fit into the versions that JSON can hold.
    package static let stride: Int64 = 1 << 31

    /// Starts a new generation inside the current transaction. Its sequence numbers are higher than all that were
    /// assigned before.
    /// - Parameter least: the highest sequence number that may have been given out elsewhere, by a store that this one
    ///   replaces.
    package func beginGeneration(least: SequenceNumber = .beginning, _ continuity: Continuity = .goesOn) throws {
        let after = continuity == .goesOn ? lastSequence : head.first.previous
        let last = max(lastSequence, least)
        lastSequence = generations.isEmpty && last == .beginning ? last.next : SequenceNumber(last.value + Self.stride)
        sequenceUsed = true
        let generation = Generation(nonce: UUID().uuidString.lowercased(), first: lastSequence, after: after)
        let insert = try database.prepare("INSERT INTO generations(first, nonce, after) VALUES (?, ?, ?)")
        try insert.with(generation.first.value, generation.nonce, generation.after.value).run()
        generations.append(generation)
    }
}

extension StageDatabase {
    /// For readers alongside the writer: refuses anything written by a newer release.
    package static func requireKnownSchema(in database: Database) throws {
        let version = try database.prepare("SELECT value FROM meta WHERE key = 'schema'").firstRow { $0.int64(0) } ?? 0
        guard version <= schemaVersion else {
            throw ChangelogError.newerSchema(path: database.path, found: version, known: schemaVersion)
        }
    }

    /// The head as seen by a reader alongside the writer, inside its read transaction.
    package static func readHead(in database: Database) throws -> (head: StoreHead, generations: [Generation]) {
        let meta = try database.prepare("SELECT value FROM meta WHERE key = ?")
        let store = try meta.with("store").firstRow { $0.string(0) } ?? ""
        let sequence = SequenceNumber(try meta.with("last_sequence").firstRow { $0.int64(0) } ?? 0)
        let generations = try Self.generations(in: database)
        let head = head(store, generations, try newest(in: database), sequence, try raised(in: database))
        return (head, generations)
    }

    /// The last sequence number that an incarnation can have given out in this store: where the next one began. Nil if
    /// the store doesn't know the incarnation.
    package static func reach(of incarnation: String, in database: Database) throws -> SequenceNumber? {
        guard try database.hasColumn("nonce", in: "incarnations") else { return nil }
        let next = try database.prepare(
            """
            SELECT (SELECT after FROM incarnations WHERE epoch > known.epoch ORDER BY epoch LIMIT 1)
            FROM incarnations AS known WHERE nonce = ?
            """)
        return try next.with(incarnation).firstRow { $0.isNull(0) ? .end : SequenceNumber($0.int64(0)) }
    }
}
