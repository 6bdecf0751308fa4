import HealthModel
import SQLite

/// The tables `bringers` and `brought`: which rows each import and each device added or confirmed, by the sequences
/// under which the rows were first stored.
///
/// Samples whose origin is unknown are recorded under 0. So if a row is recorded for only one origin and was stored
/// after recording began, it came from that origin alone.
final class BroughtTable {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS bringers (number INTEGER PRIMARY KEY, user INTEGER NOT NULL, kind TEXT NOT NULL,
          name TEXT NOT NULL, way TEXT NOT NULL, UNIQUE (user, kind, name, way))
        """,
        """
        CREATE TABLE IF NOT EXISTS brought (chunk INTEGER NOT NULL, bringer INTEGER NOT NULL, content BLOB NOT NULL,
          PRIMARY KEY (chunk, bringer)) WITHOUT ROWID
        """,
        "CREATE TABLE IF NOT EXISTS brought_since (sequence INTEGER NOT NULL)",
    ]

    /// When the export of an import was made, in µs since 1970.
    static let dates =
        "CREATE TABLE IF NOT EXISTS bringer_dates (bringer INTEGER PRIMARY KEY, exported INTEGER NOT NULL)"

    /// Creates the tables; the origin of rows that already exist is unknown.
    static func begin(in database: Database) throws {
        for table in tables { try database.execute(table) }
        try database.execute("INSERT INTO brought_since SELECT coalesce(max(seq), 0) FROM heads")
    }

    /// Stands for an unknown origin.
    static let unnamed = 0

    private let find: Statement
    private let add: Statement
    private let choose: Statement
    private let listDevices: Statement
    private let read: Statement
    private let write: Statement
    private let chunk: Statement
    private let first: Statement
    private let drop: Statement
    private let sinceQuery: Statement
    private let listImports: Statement
    private let listRepairs: Statement
    private let listIDs: Statement
    private let dropBringer: Statement
    private let setDate: Statement

    init(in database: Database) throws {
        find = try database.prepare(
            "SELECT number FROM bringers WHERE user = ? AND kind = ? AND name = ? AND way = ?")
        add = try database.prepare("INSERT INTO bringers (user, kind, name, way) VALUES (?, ?, ?, ?)")
        listDevices = try database.prepare("SELECT number FROM bringers WHERE user = ? AND kind = 'device'")
        choose = try database.prepare("SELECT number FROM bringers WHERE user = ? AND kind = ? AND name = ?")
        read = try database.prepare("SELECT content FROM brought WHERE chunk = ? AND bringer = ?")
        write = try database.prepare("INSERT OR REPLACE INTO brought (chunk, bringer, content) VALUES (?, ?, ?)")
        // Repairs bring nothing.
        chunk = try database.prepare(
            """
            SELECT bringer, content FROM brought WHERE chunk = ?
            AND bringer NOT IN (SELECT number FROM bringers WHERE kind = '\(Bringer.repairKind)')
            """)
        first = try database.prepare("SELECT min(chunk) FROM brought WHERE bringer = ?")
        drop = try database.prepare("DELETE FROM brought WHERE bringer = ?")
        sinceQuery = try database.prepare("SELECT max(sequence) FROM brought_since")
        listImports = try database.prepare(
            """
            SELECT number, exported FROM bringers LEFT JOIN bringer_dates ON bringer = number
            WHERE user = ? AND kind = 'import'
            """)
        listIDs = try database.prepare("SELECT number, name FROM bringers WHERE user = ? AND kind = 'import'")
        dropBringer = try database.prepare("DELETE FROM bringers WHERE number = ?")
        listRepairs = try database.prepare(
            "SELECT number, name, way FROM bringers WHERE user = ? AND kind = '\(Bringer.repairKind)' ORDER BY number")
        setDate = try database.prepare("INSERT OR REPLACE INTO bringer_dates VALUES (?, ?)")
    }

    /// The number of an origin; an origin that is new is added.
    func number(_ bringer: Bringer?, user: Int) throws -> Int {
        guard let bringer else { return Self.unnamed }
        func found() throws -> Int? {
            try find.with(user, bringer.kind, bringer.name, bringer.way).firstRow { $0.int(0) }
        }
        if let number = try found() { return number }
        try add.with(user, bringer.kind, bringer.name, bringer.way).run()
        return try found() ?? Self.unnamed
    }

    /// The numbers of the chosen origins, in no particular order; none when nothing was ever recorded for them.
    func numbers(_ choice: BringerChoice, user: Int) throws -> [Int] {
        try choose.with(user, choice.kind, choice.name).rows { $0.int(0) }
    }

    /// The numbers of a user's devices, with all their ways.
    func devices(of user: Int) throws -> [Int] {
        try listDevices.with(user).rows { $0.int(0) }
    }

    /// The numbers of a user's imports, and when those exports were made for which that is known.
    func imports(of user: Int) throws -> (numbers: Set<Int>, dates: [Int: Int64]) {
        var numbers: Set<Int> = []
        var dates: [Int: Int64] = [:]
        try listImports.with(user).forEachRow { row in
            numbers.insert(row.int(0))
            if !row.isNull(1) { dates[row.int(0)] = row.int64(1) }
        }
        return (numbers, dates)
    }

    /// A user's repairs, in order, with the numbers of what each has changed in which way.
    func repairs(of user: Int) throws -> [(number: Int, id: String, way: String)] {
        try listRepairs.with(user).rows { ($0.int(0), $0.string(1), $0.string(2)) }
    }

    /// The ids of a user's imports, by their numbers.
    func ids(of user: Int) throws -> [Int: String] {
        try Dictionary(uniqueKeysWithValues: listIDs.with(user).rows { ($0.int(0), $0.string(1)) })
    }

    /// Records when an import's export was made.
    func date(_ bringer: Int, exported: Int64) throws { try setDate.with(bringer, exported).run() }

    // MARK: Rows, by the sequences under which they were first stored

    /// Adds rows to those recorded for an origin.
    func add(_ births: BirthChunk, at number: Int64, of bringer: Int) throws {
        var all = births
        if let known = try self.births(at: number, of: bringer) {
            all.formUnion(known)
            if all == known { return }
        }
        try write.with(number, bringer, all.encoded).run()
    }

    func add(_ born: Int64, of bringer: Int) throws {
        try add(BirthChunk(born), at: BirthChunk.number(born), of: bringer)
    }

    /// Records the origins of this row for another row too.
    func copy(_ born: Int64, to other: Int64) throws {
        for (bringer, _) in try notes(of: born) { try add(other, of: bringer) }
    }

    /// Takes one row's origins away from another row.
    func subtract(_ born: Int64, from other: Int64) throws {
        for (bringer, _) in try notes(of: born) {
            if let births = try births(at: BirthChunk.number(other), of: bringer) {
                try remove(other, from: births, of: bringer)
            }
        }
    }

    /// Records for no origin any more that it brought this row.
    func forget(_ born: Int64) throws {
        for (bringer, births) in try notes(of: born) { try remove(born, from: births, of: bringer) }
    }

    private func remove(_ born: Int64, from births: BirthChunk, of bringer: Int) throws {
        var rest = births
        rest.subtract(BirthChunk(born))
        try write.with(BirthChunk.number(born), bringer, rest.encoded).run()
    }

    /// Whether an origin is recorded for a row.
    func has(_ born: Int64, bringer: Int) throws -> Bool {
        try births(at: BirthChunk.number(born), of: bringer)?.contains(born) ?? false
    }

    private func births(at number: Int64, of bringer: Int) throws -> BirthChunk? {
        try read.with(number, bringer).firstRow { try Self.content($0, 0) }
    }

    /// Which rows of a chunk are recorded for any of these repairs.
    func births(at number: Int64, of repairs: [Int]) throws -> (theirs: BirthChunk, others: BirthChunk) {
        var all = BirthChunk()
        for repair in repairs { if let births = try births(at: number, of: repair) { all.formUnion(births) } }
        return (all, BirthChunk())
    }

    /// The rows of a chunk that are recorded for each origin.
    func notes(at number: Int64) throws -> [(bringer: Int, births: BirthChunk)] {
        try chunk.with(number).rows { ($0.int(0), try Self.content($0, 1)) }
    }

    /// The origins of a row, each with the rows of its chunk.
    private func notes(of born: Int64) throws -> [(bringer: Int, births: BirthChunk)] {
        try notes(at: BirthChunk.number(born)).filter { $0.births.contains(born) }
    }

    /// Which rows of a chunk are recorded for the given origins, and which for any others.
    func notes(at number: Int64, of bringers: [Int]) throws -> (theirs: BirthChunk, others: BirthChunk) {
        var (theirs, others) = (BirthChunk(), BirthChunk())
        for (bringer, births) in try notes(at: number) {
            if bringers.contains(bringer) { theirs.formUnion(births) } else { others.formUnion(births) }
        }
        return (theirs, others)
    }

    /// The first sequence that may be recorded for any of the origins; nil when there is none.
    func firstBirth(of bringers: [Int]) throws -> SequenceNumber? {
        try bringers.compactMap { try first.with($0).firstNumber() }.min().map { SequenceNumber($0 << 12) }
    }

    func forget(_ bringers: [Int]) throws { for bringer in bringers { try drop.with(bringer).run() } }

    /// Forgets a repair.
    func drop(_ repair: Int) throws {
        try forget([repair])
        try dropBringer.with(repair).run()
    }

    /// The last sequence before recording began.
    func since() throws -> Int64 { try sinceQuery.firstNumber() ?? .max }

    private static func content(_ row: Statement, _ column: Int) throws -> BirthChunk {
        guard let births = row.withBytes(column, { BirthChunk($0) }) else { throw HealthStoreError.damagedNotes }
        return births
    }
}
