import SQLite
import TestSupport
import Testing

/// Statements are kept, in case the same text is prepared again. Callers must not notice this.
@Suite struct StatementTests {
    private let folder: TemporaryFolder
    private let database: Database

    init() throws {
        folder = try TemporaryFolder()
        database = try Database(path: folder.path + "/state.sqlite")
        try database.execute("CREATE TABLE t(a INTEGER, b INTEGER)")
    }

    private func insert(_ a: Int?) throws {
        let insert = try database.prepare("INSERT INTO t(a) VALUES (?)")
        if let a { insert.bind(1, a) }
        try insert.run()
    }

    private func all() throws -> [Int?] {
        var all: [Int?] = []
        try database.prepare("SELECT a FROM t ORDER BY rowid").forEachRow { all.append($0.isNull(0) ? nil : $0.int(0)) }
        return all
    }

    @Test func whatWasBoundIsForgotten() throws {
        let text = "INSERT INTO t(a) VALUES (?)"
        do {
            let bound = try database.prepare(text)
            bound.bind(1, 7)
            withExtendedLifetime(bound) {}
        }
        try insert(nil)
        #expect(try all() == [nil])
    }

    @Test func twoOfOneTextAreApart() throws {
        for number in 1...3 { try insert(number) }
        var pairs: [[Int]] = []
        let text = "SELECT a FROM t ORDER BY a"
        try database.prepare(text).forEachRow { outer in
            try database.prepare(text).forEachRow { inner in pairs.append([outer.int(0), inner.int(0)]) }
        }
        #expect(pairs == (1...3).flatMap { a in (1...3).map { [a, $0] } })
    }

    /// An unfinished read would keep the table from being dropped.
    @Test func oneThatIsLetGoInTheMidstReadsNoMore() throws {
        for number in 1...3 { try insert(number) }
        do {
            let begun = try database.prepare("SELECT a FROM t")
            #expect(try begun.step())
        }
        try database.execute("DROP TABLE t")
        #expect(throws: SQLiteError.self) { try all() }
    }

    @Test func itFollowsTheTables() throws {
        try insert(1)
        let columns = { () throws -> Int? in
            try database.prepare("SELECT * FROM t").firstRow { row in row.isNull(2) ? 2 : row.int(2) }
        }
        #expect(try columns() == 2)
        try database.execute("ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 3")
        #expect(try columns() == 3)
    }

    @Test func manyTextsAreNoTrap() throws {
        for round in 1...2 {
            for number in 0..<300 {
                let found = try database.prepare("SELECT \(number) + ?")
                found.bind(1, round)
                #expect(try found.firstRow { $0.int(0) } == number + round)
            }
        }
    }
}
