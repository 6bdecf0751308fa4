import BackendReading
import HealthModel
import SQLite
import TestSupport
import Testing

/// What `healthbus query` reads without unpacking everything is what the views in the file say.
@Suite struct SampleRowsTests {
    typealias F = BackendFixture

    private func rows(
        _ sql: String, _ fixture: BackendFixture, _ prepare: (Database) throws -> Void = { _ in }
    ) throws -> [String] {
        var rows: [String] = []
        try GuestQuery(sql, path: fixture.databasePath, prepare: prepare).forEachRow { cells in
            rows.append(
                cells.map { cell in
                    switch cell {
                    case .null: "NULL"
                    case .integer(let number): "i\(number)"
                    case .real(let number): "r\(number)"
                    case .text(let text): "t" + String(decoding: text, as: UTF8.self)
                    case .blob(let bytes): "b\(Array(bytes))"
                    }
                }.joined(separator: "|"))
        }
        return rows
    }

    /// Samples as healthbus, other programs and people send them: with ids that contain the time, to the second or to
    /// the millisecond, another one's time, or none; before 1970; for hours; without a unit, source or value.
    private static func sample(_ number: Int, _ random: inout SeededRandom) -> String {
        let second = Int64.random(in: -86_400 * 3...86_400 * 12, using: &random)
        let micros = [0, 0, 500_000, 250, 999_999].randomElement(using: &random) ?? 0
        let start = Instant(microseconds: second * 1_000_000 + Int64(micros))
        let length = [0, 60, 3600, 3601, 200_000].randomElement(using: &random) ?? 0
        let end = Instant(microseconds: start.microseconds + Int64(length) * 1_000_000 + Int64(number % 3) * 5)
        let idTime: Int64 =
            switch number % 5 {
            case 0, 1: max(0, second) * 1000
            case 2: max(0, second * 1000 + 750)
            case 3: Int64.random(in: 0...86_400_000, using: &random)
            default: 0
            }
        let uuid = SampleID(high: UInt64(idTime) << 16 | 0x8000, low: UInt64(number)).description
        let id = number % 11 == 10 ? "theirs-\(number)" : uuid
        var members = [
            #""id":"\#(id)","version":1,"startDate":"\#(InstantText.iso8601(start))","endDate":"\#(InstantText.iso8601(end))""#,
            #""type":"HKQuantityTypeIdentifier\#(["StepCount", "HeartRate", "BodyMass"].randomElement(using: &random) ?? "")""#,
            #""sourceType":"\#(number % 7 == 0 ? "manual" : "healthkit")""#,
        ]
        if number % 4 != 0 { members.append(#""value":\#(Double(number) / 4)"#) }
        if number % 6 != 0 { members.append(#""unit":"\#(number % 2 == 0 ? "count" : "kg")""#) }
        if number % 8 != 0 {
            members.append(#""source":"\#(["Watch", "iPhone’s", ""].randomElement(using: &random) ?? "")""#)
        }
        if number % 9 == 0 { members.append(#""metadata":{"a":\#(number % 18 == 0 ? 1 : number)}"#) }
        return "{" + members.joined(separator: ",") + "}"
    }

    private func filled(_ seed: UInt64) throws -> BackendFixture {
        let fixture = try BackendFixture()
        var random = SeededRandom(seed: seed)
        for user in ["anna", "me", "zoë"] {
            let samples = (0..<120).map { Self.sample($0, &random) }
            let answer = try fixture.accepted(
                "steps", F.body(samples: samples, deleted: [(F.id(1), 1), (F.id(2), 7)], user: user))
            try #require(answer["counts"]["created"].int ?? 0 > 100, "\(answer)")
        }
        return fixture
    }

    static let conditions = [
        "TRUE", "type = 'HKQuantityTypeIdentifierHeartRate'", "type IN ('HKQuantityTypeIdentifierHeartRate', 'x')",
        "type = 'hkquantitytypeidentifierheartrate' COLLATE NOCASE", "type = 7", "type IN (SELECT NULL)",
        "type > 'HKQ'",
        "user_id = 'me'", "user_id IN ('zoë', 'anna') AND source = 'Watch'", "source IS NULL",
        "unit = 'kg' OR value > 20",
        "start_date >= '1970-01-05'", "start_date > '1970-01-05T10'", "start_date < '1970-01-01'",
        "start_date <= '1970-01-03'",
        "start_date BETWEEN '1969-12-30' AND '1970-01-02T12:00:00Z'", "start_date = '1970-01-04T00:00:00Z'",
        "start_date IN (SELECT start_date FROM main.samples LIMIT 5)", "start_date > 'someday'", "start_date > 5",
        "start_date >= '1970-01-09' AND start_date < '1970-01-02'", "start_date >= '9999-12-31'",
        "start_date >= '0000-01-01'",
        "start_date >= '1970-01-03' AND type = 'HKQuantityTypeIdentifierBodyMass' AND user_id = 'me'",
        "end_date > '1970-01-08' AND start_date < '1970-01-08'", "id LIKE 'theirs%'",
        "payload IS NULL AND metadata NOT NULL",
    ]

    @Test(arguments: conditions) func whatAConditionFindsIsTheSame(_ condition: String) throws {
        let fixture = try filled(UInt64(condition.utf8.count))
        let sql =
            "SELECT *, start_date, typeof(value), typeof(version) FROM main.samples WHERE \(condition) ORDER BY user_id, id"
        let expected = try rows(sql, fixture)
        #expect(try rows(sql.replacing("FROM main.", with: "FROM "), fixture, SampleRows.add) == expected)
    }

    @Test(arguments: [
        "SELECT type, count(*), avg(value), min(start_date), max(end_date), sum(version) FROM main.samples GROUP BY type",
        "SELECT count(*), unit, source FROM main.samples GROUP BY unit, source",
        "SELECT source_type, user_id, count(value) FROM main.samples GROUP BY source_type, user_id HAVING count(*) > 3",
        "SELECT DISTINCT unit FROM main.samples WHERE start_date > '1970-01-03'",
        "SELECT source, value FROM main.samples WHERE user_id = 'me' ORDER BY source DESC, value, version",
        "SELECT type, unit FROM main.samples ORDER BY unit DESC, type",
        "SELECT DISTINCT type FROM main.samples ORDER BY type DESC",
        "SELECT type, count(*) FROM main.samples GROUP BY type COLLATE NOCASE ORDER BY 1",
        "SELECT count(*) FROM main.samples",
        "SELECT source, count(DISTINCT unit) FROM main.samples GROUP BY source ORDER BY source NULLS LAST",
        "SELECT unit, group_concat(metadata) IS NULL, count(id) FROM main.samples GROUP BY unit",
        "SELECT a.id, b.id FROM main.samples a JOIN main.samples b ON b.start_date = a.start_date AND b.type = a.type ORDER BY 1, 2",
        "SELECT a.id, count(*) FROM main.samples a JOIN main.samples b ON b.start_date BETWEEN a.start_date AND a.end_date GROUP BY 1",
        "SELECT * FROM main.sources ORDER BY 1, 2, 3", "SELECT * FROM main.blood_pressures",
    ])
    func whatAQuestionFindsIsTheSame(_ sql: String) throws {
        let fixture = try filled(UInt64(sql.utf8.count))
        let expected = try rows(sql, fixture)
        #expect(!expected.isEmpty || sql.contains("blood_pressures"))
        let found = try rows(sql.replacing("main.", with: ""), fixture, SampleRows.add)
        #expect(sql.contains("ORDER") ? found == expected : found.sorted() == expected.sorted())
    }

    /// The statement is still a guest's.
    @Test(arguments: [
        "DELETE FROM samples", "INSERT INTO samples(id) VALUES('a')", "DROP TABLE samples", "PRAGMA query_only = OFF",
        "COMMIT",
    ])
    func itOnlyReads(_ sql: String) throws {
        let fixture = try filled(1)
        #expect(throws: GuestQuery.Refusal.self) { try rows(sql, fixture, SampleRows.add) }
    }

    @Test func aFileThatItDoesNotKnowIsReadAsItIs() throws {
        let fixture = try filled(2)
        try Database(path: fixture.databasePath).execute("UPDATE meta SET value = '6' WHERE key = 'schema'")
        #expect(
            try rows("SELECT count(*) FROM samples", fixture, SampleRows.add)
                == rows("SELECT count(*) FROM main.samples", fixture))
    }
}
