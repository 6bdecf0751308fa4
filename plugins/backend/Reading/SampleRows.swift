import HealthModel
import HealthViews
import SQLite

/// The view `samples`, read from the tables below it without unpacking what a query doesn't ask for. A query on some
/// days visits only those: our own ids begin with the start time, so an id range is a time range.
///
/// Its rows and values are those of the view in the file, which other programs use: see `HealthViews.sqlite` for how
/// they are packed.
package final class SampleRows: VirtualTable {
    enum Column: Int, CaseIterable {
        case id, user, type, start, end, value, unit, source, sourceType, uuid, metadata, payload, version
        /// Hidden: the start in microseconds since 1970. As texts, `…:00.5Z` comes before `…:00Z`.
        case startMicroseconds
    }

    /// The names behind a number in `kinds`, as UTF-8; nil for none.
    struct Kind {
        var type: [UInt8]
        var unit: [UInt8]?
        var source: [UInt8]?
        var isManual: Bool
    }

    /// The types and affinities are those of the view's columns.
    package let columns = """
        id, user_id TEXT, type TEXT, start_date, end_date, value REAL, unit TEXT, source TEXT, source_type, healthkit_uuid,
            metadata, payload TEXT, version INTEGER, start_us HIDDEN
        """

    /// Gives a query this table in place of the view, and the views that are made from samples on it. In a file of a
    /// schema that it doesn't know, everything stays as it is.
    package static func add(to database: Database) throws {
        guard try database.hasTable("meta"), try database.hasTable("kinds"),
            let schema = try database.prepare("SELECT value FROM meta WHERE key = 'schema'").firstRow({ $0.string(0) }),
            ["4", "5"].contains(schema)
        else { return }
        try database.add(try SampleRows(database), named: "samples")
        for view in HealthViews.ofSamples { try database.execute("CREATE TEMP VIEW \(view.name) AS \(view.query)") }
    }

    unowned let database: Database
    let kinds: [Int64: Kind]
    let users: [(number: Int64, name: [UInt8])]
    private let count: Double

    private init(_ database: Database) throws {
        self.database = database
        var kinds: [Int64: Kind] = [:]
        try database.prepare(
            """
            SELECT k.id, t.text, n.text, s.text, k.manual FROM kinds k JOIN texts t ON t.id = k.type
                LEFT JOIN texts n ON n.id = k.unit LEFT JOIN texts s ON s.id = k.source
            """
        ).forEachRow { row in
            func text(_ column: Int) -> [UInt8]? { row.isNull(column) ? nil : row.bytes(column) }
            kinds[row.int64(0)] = Kind(type: row.bytes(1), unit: text(2), source: text(3), isManual: row.int(4) != 0)
        }
        self.kinds = kinds
        users = try database.prepare(
            """
            WITH RECURSIVE u(user) AS (SELECT min(user) FROM sample_rows
                UNION ALL SELECT (SELECT min(user) FROM sample_rows WHERE user > u.user) FROM u WHERE user IS NOT NULL)
            SELECT t.id, t.text FROM u JOIN texts t ON t.id = u.user
            """
        ).rows { ($0.int64(0), $0.bytes(1)) }
        count = try database.prepare("SELECT total(alive) FROM tallies").firstRow { $0.double(0) } ?? 0
    }

    package func isOfUse(_ comparison: TableCondition.Comparison) -> Bool {
        switch Column(rawValue: comparison.column) {
        case .start: true
        case .type, .user, .source: comparison.comparison == .equal
        default: false
        }
    }

    package func visited(_ comparisons: [TableCondition.Comparison]) -> Double {
        let bounds = Set(comparisons.filter { Column(rawValue: $0.column) == .start }.map(\.comparison))
        // Two bounds are mostly about a moment, such as a workout; the names only make each row cheaper.
        if bounds.contains(.equal) || bounds.count == 2 { return 10 }
        return max(1, count / (bounds.isEmpty ? 1 : 50) / (comparisons.count > bounds.count ? 2 : 1))
    }

    /// The text of a column that depends only on the kind and the user, as UTF-8; nil for NULL.
    func text(_ column: Column, _ user: Int, _ kind: Kind) -> [UInt8]? {
        switch column {
        case .user: users[user].name
        case .type: kind.type
        case .unit: kind.unit
        case .source: kind.source
        case .sourceType: kind.isManual ? Self.manual : Self.healthkit
        default: nil
        }
    }

    private static let healthkit = Array("healthkit".utf8)
    private static let manual = Array("manual".utf8)

    package func isOrdered(by order: [TableOrder], needed: UInt64) -> Bool {
        order.allSatisfy { Column(rawValue: $0.column).map(SampleGroups.keys.contains) ?? false }
            && Self.columns(needed).isDisjoint(with: [.id, .uuid, .metadata, .payload])
    }

    private static func columns(_ needed: UInt64) -> Set<Column> {
        Set(Column.allCases.filter { needed >> UInt64($0.rawValue) & 1 == 1 })
    }

    package func rows(
        _ conditions: [TableCondition], needed: UInt64, order: [TableOrder]
    ) throws -> any VirtualRows {
        var users = Array(users.indices)
        var kinds: [Int64]?
        var range = StartRange()
        for condition in conditions {
            let texts = Set(condition.texts.map { Array($0.utf8) })
            func keep(_ text: (Kind) -> [UInt8]?) {
                kinds = (kinds ?? Array(self.kinds.keys)).filter { number in
                    self.kinds[number].flatMap(text).map(texts.contains) ?? false
                }
            }
            switch Column(rawValue: condition.comparison.column) {
            case .user: users.removeAll { !texts.contains(self.users[$0].name) }
            case .type: keep(\.type)
            case .source: keep(\.source)
            case .start: range.narrow(condition)
            default: break
            }
        }
        let needed = Self.columns(needed)
        let walk = SampleWalk(self, users, kinds?.sorted(), range, needed: needed)
        return order.isEmpty ? walk : try SampleGroups(walk, self, needed: needed, order: order)
    }
}

/// The days in which samples begin, in microseconds since 1970. Times are compared as text, so the date decides first.
struct StartRange {
    /// nil without a bound.
    var from: Int64?
    /// The first moment after the range.
    var to: Int64?

    mutating func narrow(_ condition: TableCondition) {
        let days = condition.texts.compactMap { LocalDay(String($0.prefix(10)))?.number }
        // Any other text stands between the dates somewhere.
        guard days.count == condition.texts.count, let first = days.min(), let last = days.max() else { return }
        func midnight(_ day: Int) -> Int64 { Int64(day) * 86_400 * Instant.microsecondsPerSecond }
        if condition.comparison.comparison != .atMost { from = max(from ?? .min, midnight(first)) }
        if condition.comparison.comparison != .atLeast { to = min(to ?? .max, midnight(last + 1)) }
    }

    /// nil if there is none.
    var bounds: (from: Int64, to: Int64)? {
        from == nil && to == nil ? nil : (from ?? .min / 2, to ?? .max / 2)
    }
}
