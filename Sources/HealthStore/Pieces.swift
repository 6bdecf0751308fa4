import HealthModel
import SQLite

/// The table `pieces`, which lists the rows that belong to the records of an export's pieces. A piece that appears
/// again in a later export needn't be read.
///
/// A row is identified by the sequence under which it was first stored, which never changes.
final class Pieces {
    static let table = """
        CREATE TABLE IF NOT EXISTS pieces (number INTEGER PRIMARY KEY, user INTEGER NOT NULL, hash BLOB NOT NULL,
          rules INTEGER NOT NULL, records INTEGER NOT NULL, content BLOB NOT NULL, UNIQUE (user, hash))
        """

    /// The version of the rules for reading records. If it changes, all pieces are read again.
    private static let rules = 2
    /// The maximum number of pieces to keep, enough for 50 million records; beyond that, the oldest are dropped.
    private static let limit = 200_000

    private let list: Statement
    private let find: Statement
    private let write: Statement
    private let drop: Statement
    private let dropOldest: Statement
    private let dropAll: Statement
    private let listContents: Statement
    private let dropOne: Statement

    init(in database: Database) throws {
        list = try database.prepare("SELECT hash, records FROM pieces WHERE user = ? AND rules = \(Self.rules)")
        find = try database.prepare(
            "SELECT content FROM pieces WHERE user = ? AND hash = ? AND rules = \(Self.rules)")
        write = try database.prepare(
            """
            INSERT OR REPLACE INTO pieces (user, hash, rules, records, content) VALUES (?, ?, \(Self.rules), ?, ?)
            """)
        drop = try database.prepare("DELETE FROM pieces WHERE user = ? AND hash = ?")
        dropOldest = try database.prepare(
            "DELETE FROM pieces WHERE number <= (SELECT max(number) FROM pieces) - \(Self.limit)")
        listContents = try database.prepare("SELECT number, content FROM pieces WHERE user = ?")
        dropOne = try database.prepare("DELETE FROM pieces WHERE number = ?")
        dropAll = try database.prepare("DELETE FROM pieces WHERE user = ?")
    }

    /// The rows that a piece's records of one type claim.
    struct Claim: Equatable {
        var type: Int
        var records = 0
        /// The second in which the first of the records starts.
        var firstSecond: Int64 = .max
        /// The first and last sequence of each run, in order of arrival.
        var rows: [ClosedRange<Int64>] = []

        mutating func add(_ row: Int64, second: Int64) {
            records += 1
            firstSecond = min(firstSecond, second)
            if let last = rows.last, last.upperBound + 1 == row {
                rows[rows.count - 1] = last.lowerBound...row
            } else {
                rows.append(row...row)
            }
        }
    }

    /// The number of records in each piece.
    func known(user: Int) throws -> [PieceHash: Int] {
        var known: [PieceHash: Int] = [:]
        try list.with(user).forEachRow { row in
            if let piece = row.pieceHash(0) { known[piece] = row.int(1) }
        }
        return known
    }

    /// The rows that a piece's records claim; nil if the piece isn't known.
    func claims(of piece: PieceHash, user: Int) throws -> [Claim]? {
        try find.with(user, piece).firstRow { try Self.claims($0, 0) }
    }

    func note(_ piece: PieceHash, _ claims: [Claim], records: Int, user: Int) throws {
        try write.with(user, piece, records, Self.encode(claims)).run()
        try dropOldest.run()
    }

    func forget(_ piece: PieceHash, user: Int) throws {
        try drop.with(user, piece).run()
    }

    /// Called after deleting rows that a record could restore.
    func forgetAll(user: Int) throws {
        try dropAll.with(user).run()
    }

    /// Forgets the pieces with records that claim any of these rows, by the sequences under which they were first
    /// stored.
    func forget(holding births: inout SequenceSet, user: Int) throws {
        var gone: [Int64] = []
        try listContents.with(user).forEachRow { row in
            let holds = try Self.claims(row, 1).contains { claim in
                claim.rows.contains { run in run.contains { births.contains(SequenceNumber($0)) } }
            }
            if holds { gone.append(row.int64(0)) }
        }
        for number in gone {
            try dropOne.with(number).run()
        }
    }

    /// Forgets the pieces that aren't of records, such as routes and documents.
    static func forgetThoseWithoutRecords(in database: Database) throws {
        let drop = try database.prepare("DELETE FROM pieces WHERE content = ?")
        try drop.with(encode([])).run()
    }

    private static func encode(_ claims: [Claim]) -> [UInt8] {
        var out: [UInt8] = []
        NumberColumn.append(Int64(claims.count), to: &out)
        for claim in claims {
            for number in [Int64(claim.type), Int64(claim.records), claim.firstSecond, Int64(claim.rows.count)] {
                NumberColumn.append(number, to: &out)
            }
            var last: Int64 = 0
            for run in claim.rows {
                NumberColumn.append(run.lowerBound &- last, to: &out)
                NumberColumn.append(run.upperBound &- run.lowerBound, to: &out)
                last = run.upperBound
            }
        }
        return out
    }

    private static func claims(_ row: Statement, _ column: Int) throws -> [Claim] {
        try row.withBytes(column) { bytes in
            do { return try decode(bytes) } catch { throw HealthStoreError.damagedPiece }
        }
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer) throws(BlockDamage) -> [Claim] {
        var reader = ByteReader(bytes)
        var claims: [Claim] = []
        for _ in 0..<(try reader.count()) {
            var claim = Claim(type: try reader.count(atMost: .max))
            claim.records = try reader.count(atMost: .max)
            claim.firstSecond = try reader.number()
            var last: Int64 = 0
            for _ in 0..<(try reader.count()) {
                let first = last &+ (try reader.number())
                let length = try reader.number()
                guard length >= 0, length < 1 << 20 else { throw BlockDamage() }
                last = first &+ length
                guard last >= first else { throw BlockDamage() }
                claim.rows.append(first...last)
            }
            claims.append(claim)
        }
        return claims
    }
}

extension PieceHash: Bindable {
    package func bind(to statement: Statement, _ index: Int) {
        statement.bind(index, SampleID(high: high, low: low))
    }
}

extension Statement {
    /// The hash of a piece; nil when the column is NULL.
    func pieceHash(_ column: Int) -> PieceHash? { sampleID(column).map { PieceHash(high: $0.high, low: $0.low) } }
}
