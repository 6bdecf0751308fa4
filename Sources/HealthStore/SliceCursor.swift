import HealthModel
import SQLite

/// Walks one type's samples by second of start: first the long ones from before `low`, then all from there on.
final class SliceCursor {
    struct Key: Hashable {
        var isDetailed: Bool
        var isLong: Bool
    }

    let type: Int
    let isDetailed: Bool
    /// Rows first seen later aren't the slice's.
    let asOf: Int64
    /// The second of the current row; nil at the end.
    private(set) var second: Int64?
    private let long: Statement
    private let main: Statement
    private var isLong = true

    /// - Parameters:
    ///   - from: the first second to give; long samples may begin earlier than `low`.
    ///   - low: from here on every sample is looked at: none shorter than a day that begins earlier reaches the slice.
    ///   - high: the last second.
    init(
        user: Int, type: Int, isDetailed: Bool, asOf: Int64, from: Int64, low: Int64, high: Int64, long: Statement,
        main: Statement
    ) throws {
        self.type = type
        self.isDetailed = isDetailed
        self.asOf = asOf
        self.long = long
        self.main = main
        for (statement, first, last) in [(long, from, low - 1), (main, max(from, low), high)] {
            statement.bind(1, user)
            statement.bind(2, type)
            statement.bind(3, first)
            statement.bind(4, last)
        }
        try advance()
    }

    deinit {
        long.reset()
        main.reset()
    }

    var row: Statement { isLong ? long : main }

    func advance() throws {
        if isLong {
            if try long.step() {
                second = long.int64(2)
                return
            }
            isLong = false
        }
        second = try main.step() ? main.int64(2) : nil
    }

    static func statement(_ key: Key, in database: Database) throws -> Statement {
        let columns =
            "seq, born, second, start_us, duration, value, origin, flags, id, unit"
            + (key.isDetailed ? ", created, uuid, metadata, payload" : "")
        let source =
            key.isLong
            ? "INDEXED BY samples_long WHERE duration > \(HealthStoreSchema.longDuration) AND"
            : "INDEXED BY samples_identity WHERE"
        return try database.prepare(
            """
            SELECT \(columns) FROM samples \(source) user = ?1 AND type = ?2 AND second >= ?3 AND second <= ?4 AND state = 0
            ORDER BY second
            """)
    }
}
