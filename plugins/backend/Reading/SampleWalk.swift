import HealthModel
import SQLite

/// The rows of one user after the other, unpacked column by column.
final class SampleWalk: VirtualRows {
    private let table: SampleRows
    private let users: [Int]
    private var next = 0
    private let range: StartRange
    private let filter: String
    /// What is read of a row, in this order; the first one is its kind.
    private let fields: [String]
    private let id, shift, duration, value, uuid, metadata, payload, version: Int
    private var statement: Statement?
    private(set) var kind: (number: Int64, names: SampleRows.Kind)?
    private var moments = MomentText()

    init(
        _ table: SampleRows, _ users: [Int], _ kinds: [Int64]?, _ range: StartRange, needed: Set<SampleRows.Column>
    ) {
        (self.table, self.users, self.range) = (table, users, range)
        filter = "deleted = 0" + (kinds.map { " AND kind IN (\($0.map(String.init).joined(separator: ", ")))" } ?? "")
        var fields = ["kind"]
        func field(_ expression: String, _ users: SampleRows.Column...) -> Int {
            guard !needed.isDisjoint(with: users) else { return -1 }
            fields.append(expression)
            return fields.count - 1
        }
        id = field("id", .id, .start, .end, .startMicroseconds)
        shift = field("shift", .start, .end, .startMicroseconds)
        duration = field("duration", .end)
        value = field("value", .value)
        uuid = field("uuid", .uuid)
        metadata = field(
            "iif(typeof(metadata) = 'integer', (SELECT text FROM texts WHERE texts.id = metadata), metadata)", .metadata
        )
        payload = field("payload", .payload)
        version = field("version", .version)
        self.fields = fields
    }

    func advance() throws -> Bool {
        while true {
            // A sample whose type was never named isn't in the view either.
            while let statement, try statement.step() {
                if isNamed(statement.int64(0)) { return true }
            }
            guard next < users.count else { return false }
            statement = try rows(of: table.users[users[next]].number)
            next += 1
        }
    }

    private func isNamed(_ number: Int64) -> Bool {
        if kind?.number == number { return true }
        guard let names = table.kinds[number] else { return false }
        kind = (number, names)
        return true
    }

    /// The place of the row's user among the table's.
    var user: Int { users[next - 1] }

    /// How many rows are looked up one by one; if there are more, all are visited.
    private static let apartLimit = 20_000

    private func rows(of user: Int64) throws -> Statement {
        let rows = "SELECT \(fields.joined(separator: ", ")) FROM sample_rows"
        let apart = "INDEXED BY samples_start WHERE user = ?1 AND start IS NOT NULL AND start >= ?2 AND start < ?3"
        guard let (from, to) = range.bounds,
            try table.database.prepare(
                "SELECT count(*) FROM (SELECT 1 FROM sample_rows \(apart) LIMIT \(Self.apartLimit + 1))"
            ).with(user, from, to).firstNumber() ?? 0 <= Self.apartLimit
        else { return try table.database.prepare("\(rows) WHERE user = ?1 AND \(filter)").with(user) }
        return try table.database.prepare(
            """
            \(rows) WHERE user = ?1 AND id >= ?4 AND id < ?5 AND start IS NULL AND \(filter)
            UNION ALL \(rows) \(apart) AND \(filter)
            """
        ).with(user, from, to, Self.id(from - Instant.microsecondsPerSecond), Self.id(to))
    }

    /// The beginning of the ids of this time.
    private static func id(_ time: Int64) -> [UInt8] {
        let milliseconds = min(max(0, time / 1000), 1 << 48 - 1)
        return (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * $0)) }
    }

    func write(_ column: Int, to result: ColumnResult) {
        guard let statement, let column = SampleRows.Column(rawValue: column) else { return }
        switch column {
        case .user, .type, .unit, .source, .sourceType:
            if let kind { table.text(column, user, kind.names).map(result.text) }
        case .start: moments.write(start, to: result)
        case .end: moments.write(end, to: result)
        case .value: result.value(statement, value)
        case .id: write(uuid: statement, id, to: result)
        case .uuid: write(uuid: statement, uuid, to: result)
        case .metadata: result.value(statement, metadata)
        case .payload: result.value(statement, payload)
        case .version: result.value(statement, version)
        case .startMicroseconds: result.integer(start)
        }
    }

    /// In microseconds since 1970, as in `StoredTimes`, whatever another program may have written.
    private var start: Int64 {
        guard let statement else { return 0 }
        let time: Int64 =
            statement.isBlob(id)
            ? statement.withBytes(id) { $0.prefix(6).reduce(0) { $0 << 8 | Int64($1) } } * 1000 : 0
        return time &+ statement.int64(shift)
    }

    private var end: Int64 {
        let (start, duration) = (start, statement?.int64(duration) ?? 0)
        return duration < 0 ? start &- duration : start &+ duration &* Instant.microsecondsPerSecond
    }

    /// What a column is made from, in eight bytes.
    func word(_ column: SampleRows.Column) -> Int64 {
        switch column {
        case .start, .startMicroseconds: start
        case .end: end
        // SQLite stores no NaN.
        case .value:
            Int64(bitPattern: (statement.flatMap { $0.isNull(value) ? nil : $0.double(value) } ?? .nan).bitPattern)
        case .version: statement?.int64(version) ?? 0
        default: 0
        }
    }

    private func write(uuid statement: Statement, _ column: Int, to result: ColumnResult) {
        let id = statement.withBytes(column) { bytes -> SampleID? in
            guard bytes.count == 16, statement.isBlob(column) else { return nil }
            func word(_ offset: Int) -> UInt64 {
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            return SampleID(high: word(0), low: word(8))
        }
        guard let id else { return result.value(statement, column) }
        var text: [UInt8] = []
        text.append(uuid: id)
        result.text(text)
    }
}

/// Writes times as ISO 8601, in a buffer that stays.
struct MomentText {
    private var text: [UInt8] = []

    /// SQLite formats the years 0 to 9999.
    private static let years: Range<Int64> = -62_167_219_200_000_000..<253_402_300_800_000_000

    mutating func write(_ time: Int64, to result: ColumnResult) {
        guard Self.years.contains(time) else { return }
        text.removeAll(keepingCapacity: true)
        InstantText.append(iso8601: Instant(microseconds: time), to: &text)
        result.text(text)
    }
}
