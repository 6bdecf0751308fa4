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
        for isNew in [false, true] {
            let statement = isNew ? add : find
            statement.bind(1, user)
            statement.bind(2, bringer.kind)
            statement.bind(3, bringer.name)
            statement.bind(4, bringer.way)
            if isNew {
                try statement.run()
            } else if let number = try statement.firstRow({ $0.int(0) }) {
                return number
            }
        }
        find.bind(1, user)
        find.bind(2, bringer.kind)
        find.bind(3, bringer.name)
        find.bind(4, bringer.way)
        return try find.firstRow { $0.int(0) } ?? Self.unnamed
    }

    /// The numbers of the chosen origins, in no particular order; none when nothing was ever recorded for them.
    func numbers(_ choice: BringerChoice, user: Int) throws -> [Int] {
        choose.bind(1, user)
        choose.bind(2, choice.kind)
        choose.bind(3, choice.name)
        var numbers: [Int] = []
        try choose.forEachRow { numbers.append($0.int(0)) }
        return numbers
    }

    /// The numbers of a user's devices, with all their ways.
    func devices(of user: Int) throws -> [Int] {
        listDevices.bind(1, user)
        var numbers: [Int] = []
        try listDevices.forEachRow { numbers.append($0.int(0)) }
        return numbers
    }

    /// The numbers of a user's imports, and when those exports were made for which that is known.
    func imports(of user: Int) throws -> (numbers: Set<Int>, dates: [Int: Int64]) {
        listImports.bind(1, user)
        var numbers: Set<Int> = []
        var dates: [Int: Int64] = [:]
        try listImports.forEachRow { row in
            numbers.insert(row.int(0))
            if !row.isNull(1) { dates[row.int(0)] = row.int64(1) }
        }
        return (numbers, dates)
    }

    /// A user's repairs, in order, with the numbers of what each has changed in which way.
    func repairs(of user: Int) throws -> [(number: Int, id: String, way: String)] {
        listRepairs.bind(1, user)
        var found: [(number: Int, id: String, way: String)] = []
        try listRepairs.forEachRow { found.append(($0.int(0), $0.string(1), $0.string(2))) }
        return found
    }

    /// Which rows of a chunk are recorded for any of these repairs.
    func births(at number: Int64, of repairs: [Int]) throws -> (theirs: BirthChunk, others: BirthChunk) {
        var births = BirthChunk()
        for repair in repairs {
            read.bind(1, number)
            read.bind(2, repair)
            if let found = try read.firstRow({ try Self.content($0, 0) }) { births.formUnion(found) }
        }
        return (births, BirthChunk())
    }

    func add(_ born: Int64, of bringer: Int) throws {
        var births = BirthChunk()
        births.bits[Int(born & 4095) >> 6] |= 1 << UInt64(born & 63)
        try add(births, at: born >> 12, of: bringer)
    }

    /// Takes one row's origins away from another row.
    func subtract(_ born: Int64, from other: Int64) throws {
        for (bringer, births) in try notes(at: born >> 12) where births.contains(Int(born & 4095)) {
            read.bind(1, other >> 12)
            read.bind(2, bringer)
            guard var rest = try read.firstRow({ try Self.content($0, 0) }) else { continue }
            rest.bits[Int(other & 4095) >> 6] &= ~(1 << UInt64(other & 63))
            write.bind(1, other >> 12)
            write.bind(2, bringer)
            write.bind(3, rest.encoded)
            try write.run()
        }
    }

    /// The ids of a user's imports, by their numbers.
    func ids(of user: Int) throws -> [Int: String] {
        listIDs.bind(1, user)
        var found: [Int: String] = [:]
        try listIDs.forEachRow { found[$0.int(0)] = $0.string(1) }
        return found
    }

    /// Forgets a repair.
    func drop(_ repair: Int) throws {
        try forget([repair])
        dropBringer.bind(1, repair)
        try dropBringer.run()
    }

    /// Records when an import's export was made.
    func date(_ bringer: Int, exported: Int64) throws {
        setDate.bind(1, bringer)
        setDate.bind(2, exported)
        try setDate.run()
    }

    /// Adds rows to those recorded for an origin.
    func add(_ births: BirthChunk, at number: Int64, of bringer: Int) throws {
        var all = births
        read.bind(1, number)
        read.bind(2, bringer)
        if let known = try read.firstRow({ try Self.content($0, 0) }) {
            all.formUnion(known)
            if all == known { return }
        }
        write.bind(1, number)
        write.bind(2, bringer)
        write.bind(3, all.encoded)
        try write.run()
    }

    /// Whether an origin is recorded for a row.
    func has(_ born: Int64, bringer: Int) throws -> Bool {
        read.bind(1, born >> 12)
        read.bind(2, bringer)
        return try read.firstRow { try Self.content($0, 0).contains(Int(born & 4095)) } ?? false
    }

    /// Records the origins of this row for another row too.
    func copy(_ born: Int64, to other: Int64) throws {
        var births = BirthChunk()
        births.bits[Int(other & 4095) >> 6] |= 1 << UInt64(other & 63)
        var bringers: [Int] = []
        chunk.bind(1, born >> 12)
        try chunk.forEachRow { row in
            if try Self.content(row, 1).contains(Int(born & 4095)) { bringers.append(row.int(0)) }
        }
        for bringer in bringers { try add(births, at: other >> 12, of: bringer) }
    }

    /// The rows of a chunk that are recorded for each origin.
    func notes(at number: Int64) throws -> [(bringer: Int, births: BirthChunk)] {
        var notes: [(bringer: Int, births: BirthChunk)] = []
        chunk.bind(1, number)
        try chunk.forEachRow { row in notes.append((row.int(0), try Self.content(row, 1))) }
        return notes
    }

    /// Records for no origin any more that it brought this row.
    func forget(_ born: Int64) throws {
        for (bringer, births) in try notes(at: born >> 12) where births.contains(Int(born & 4095)) {
            var rest = births
            rest.bits[Int(born & 4095) >> 6] &= ~(1 << UInt64(born & 63))
            write.bind(1, born >> 12)
            write.bind(2, bringer)
            write.bind(3, rest.encoded)
            try write.run()
        }
    }

    /// Which rows of a chunk are recorded for the given origins, and which for any others.
    func notes(at number: Int64, of bringers: [Int]) throws -> (theirs: BirthChunk, others: BirthChunk) {
        var (theirs, others) = (BirthChunk(), BirthChunk())
        chunk.bind(1, number)
        try chunk.forEachRow { row in
            let births = try Self.content(row, 1)
            if bringers.contains(row.int(0)) { theirs.formUnion(births) } else { others.formUnion(births) }
        }
        return (theirs, others)
    }

    /// The first sequence that may be recorded for any of the origins; nil when there is none.
    func firstBirth(of bringers: [Int]) throws -> SequenceNumber? {
        var least: Int64?
        for bringer in bringers {
            first.bind(1, bringer)
            guard let found = try first.firstRow({ $0.isNull(0) ? nil : $0.int64(0) }), let found else { continue }
            least = min(least ?? found, found)
        }
        return least.map { SequenceNumber($0 << 12) }
    }

    func forget(_ bringers: [Int]) throws {
        for bringer in bringers {
            drop.bind(1, bringer)
            try drop.run()
        }
    }

    /// The last sequence before recording began.
    func since() throws -> Int64 { try sinceQuery.firstRow { $0.isNull(0) ? Int64.max : $0.int64(0) } ?? .max }

    private static func content(_ row: Statement, _ column: Int) throws -> BirthChunk {
        guard let births = row.withBytes(column, { BirthChunk($0) }) else { throw HealthStoreError.damagedNotes }
        return births
    }
}
