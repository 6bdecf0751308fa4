import HealthModel
import SQLite

/// Walks one type's samples by second of start, through some stretches of time: of each first the long samples from before it, then all.
final class SliceCursor {
    struct Key: Hashable {
        var columns: Columns
        var isLong: Bool
    }

    /// What is read of each sample beside its numbers.
    enum Columns {
        case none, payload, all
    }

    /// What to walk through with one statement: seconds of start, both included.
    private struct Segment {
        var isLong: Bool
        var first: Int64
        var last: Int64
    }

    let type: Int
    let columns: Columns
    /// Rows first seen later aren't the slice's.
    let asOf: SequenceNumber
    /// Microseconds since 1970. The samples overlap one of these; in order, without overlap.
    let ranges: [Range<Int64>]
    /// The second of the current row; nil at the end.
    private(set) var second: Int64?
    private let long: Statement
    private let main: Statement
    private var segments: [Segment] = []
    private var next = 0
    private var isLong = true

    /// - Parameters:
    ///   - from: the first second to give; long samples may begin earlier than a range.
    ///   - reach: no sample shorter than a day reaches a range from farther before it.
    init(
        user: Int, type: Int, columns: Columns, asOf: SequenceNumber, from: Int64, ranges: [Range<Instant>],
        reach: Int64,
        long: Statement, main: Statement
    ) throws {
        self.type = type
        self.columns = columns
        self.asOf = asOf
        self.ranges = ranges.map(\.microseconds)
        self.long = long
        self.main = main
        var first = from
        for range in self.ranges {
            let (low, overflow) = range.lowerBound.subtractingReportingOverflow(reach)
            let begin = (overflow ? Instant.distantPast : Instant(microseconds: low)).flooredSecond
            if first < begin { segments.append(Segment(isLong: true, first: first, last: begin - 1)) }
            let last = Instant(microseconds: range.upperBound - 1).flooredSecond
            guard max(first, begin) <= last else { continue }
            segments.append(Segment(isLong: false, first: max(first, begin), last: last))
            first = last + 1
        }
        for statement in [long, main] {
            statement.bind(1, user)
            statement.bind(2, type)
        }
        try open()
    }

    deinit {
        long.reset()
        main.reset()
    }

    var row: Statement { isLong ? long : main }

    func advance() throws {
        if try row.step() { second = row.int64(2) } else { try open() }
    }

    /// Goes on to the first row of the segments that are left.
    private func open() throws {
        second = nil
        while second == nil, next < segments.count {
            isLong = segments[next].isLong
            row.rewind()
            row.bind(3, segments[next].first)
            row.bind(4, segments[next].last)
            next += 1
            if try row.step() { second = row.int64(2) }
        }
    }

    static func statement(_ key: Key, in database: Database) throws -> Statement {
        let more =
            switch key.columns {
            case .none: ""
            case .payload: ", payload"
            case .all: ", created, uuid, metadata, payload"
            }
        let columns = "seq, born, second, start_us, duration, value, origin, flags, id, unit" + more
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
