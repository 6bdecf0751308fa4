import HealthModel
import SQLite

/// Walks one type's samples by the second of their start, through a number of time ranges: for each range, first the
/// long samples that began before it, then all others.
final class SliceCursor {
    struct Key: Hashable {
        var columns: Columns
        var isLong: Bool
    }

    /// The columns of each sample that are read in addition to its numbers.
    enum Columns {
        case none, payload, all
    }

    /// The samples that one statement walks through: those that start in these seconds, both included.
    private struct Segment {
        var isLong: Bool
        var first: Int64
        var last: Int64
    }

    let type: Int
    let columns: Columns
    /// Whether it matters which of several samples with the same times was stored last.
    let hasTies: Bool
    /// Rows first stored after this sequence aren't part of the slice.
    let asOf: SequenceNumber
    /// Microseconds since 1970, in order and without overlaps. The walk finds all samples that overlap one of these
    /// ranges, and others that start shortly before them.
    let ranges: [Range<Int64>]
    /// The second in which the current row starts; nil at the end.
    private(set) var second: Int64?
    private let user: Int
    private let long: Statement
    private let main: Statement
    private let blocks: BlockTable
    private var segments: [Segment] = []
    private var next = 0
    private var isLong = true
    /// The second in which the statement's current row starts; nil after its last row.
    private var rowSecond: Int64?
    /// The segment's rows from those blocks that the walk has reached.
    private var parts: [Part] = []
    /// The segment's other blocks, in reverse order; each is read when the walk reaches it.
    private var coming: [BlockPlace] = []
    private var segment = Segment(isLong: true, first: 0, last: 0)
    /// The part of a block that the current row belongs to; nil if it is the statement's row.
    private var part: Int?

    /// The rows of a block that are within a segment.
    private struct Part {
        let view: BlockTable.View
        private(set) var index: Int
        private let end: Int

        /// Nil when there are none.
        init?(_ view: BlockTable.View, _ segment: Segment) {
            self.view = view
            let rows = view.rows(in: segment.first...segment.last)
            (index, end) = (rows.lowerBound - 1, rows.upperBound)
            if !advance() { return nil }
        }

        var second: Int64 { view.block.second[index] }

        /// Moves to the next row; false after the last.
        mutating func advance() -> Bool {
            repeat { index += 1 } while index < end && !view.isHere(index)
            return index < end
        }
    }

    /// The details of a row, which only some queries need.
    enum Detail {
        /// All details but the creation, which every row has.
        case row(uuid: SampleID?, metadata: [UInt8], payload: [UInt8])
        /// Only the payload.
        case payload([UInt8])
        /// All details, or only the payload.
        case block(SampleBlock, Int, isWhole: Bool)
    }

    /// - Parameters:
    ///   - from: the first second to return; long samples may begin before a range.
    ///   - reach: how long before a range a sample shorter than a day may begin and still extend into it.
    init(
        user: Int, type: Int, columns: Columns, hasTies: Bool, asOf: SequenceNumber, from: Int64,
        ranges: [Range<Instant>], reach: Int64,
        long: Statement, main: Statement, blocks: BlockTable
    ) throws {
        (self.user, self.type, self.columns, self.hasTies, self.asOf) = (user, type, columns, hasTies, asOf)
        self.ranges = ranges.map(\.microseconds)
        (self.long, self.main, self.blocks) = (long, main, blocks)
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

    private var statement: Statement { isLong ? long : main }

    /// The current row, and the sequence under which it was first stored. There is a current row as long as `second`
    /// isn't nil.
    var row: (row: StoredRow, born: Int64) {
        if let part {
            let row = parts[part].view.block.row(parts[part].index)
            return (row, row.born.value)
        }
        var row = StoredRow()
        row.sequence = SequenceNumber(statement.int64(0))
        row.type = type
        row.second = statement.int64(2)
        row.startRemainder = statement.int64(3)
        row.duration = statement.int64(4)
        row.value = statement.isNull(5) ? .nan : statement.double(5)
        row.origin = statement.int(6)
        row.flags = UInt8(truncatingIfNeeded: statement.int64(7))
        row.id = statement.sampleID(8) ?? row.id
        row.unit = statement.int(9)
        row.created = statement.int64(10)
        let born = statement.int64(1)
        return (row, born == 0 ? row.sequence.value : born)
    }

    /// The current row's details besides its numbers; nil if none are read.
    var detail: Detail? {
        guard let part else {
            switch columns {
            case .none: return nil
            case .payload:
                return statement.isNull(11) ? nil : .payload(statement.bytes(11))
            case .all:
                return .row(
                    uuid: statement.sampleID(11), metadata: statement.bytes(12), payload: statement.bytes(13))
            }
        }
        let (block, index) = (parts[part].view.block, parts[part].index)
        switch columns {
        case .none: return nil
        case .payload: return block.payload.isEmpty(index) ? nil : .block(block, index, isWhole: false)
        case .all: return .block(block, index, isWhole: true)
        }
    }

    func advance() throws {
        if let part {
            if !parts[part].advance() { parts.remove(at: part) }
        } else {
            rowSecond = try statement.step() ? statement.int64(2) : nil
        }
        try choose()
        if second == nil { try open() }
    }

    /// Chooses the earliest of the statement's row and the parts' rows as the current row.
    private func choose() throws {
        (second, part) = (rowSecond, nil)
        for index in parts.indices where second.map({ parts[index].second < $0 }) ?? true {
            (second, part) = (parts[index].second, index)
        }
        while let place = coming.last, second.map({ place.firstSecond <= $0 }) ?? true {
            coming.removeLast()
            guard let new = Part(try blocks.view(place), segment) else { continue }
            parts.append(new)
            if second.map({ new.second < $0 }) ?? true { (second, part) = (new.second, parts.count - 1) }
        }
    }

    /// Continues to the first row of the remaining segments.
    private func open() throws {
        while second == nil, next < segments.count {
            segment = segments[next]
            next += 1
            isLong = segment.isLong
            statement.rewind()
            statement.bind(3, segment.first)
            statement.bind(4, segment.last)
            rowSecond = try statement.step() ? statement.int64(2) : nil
            // Long samples are never in blocks.
            coming =
                isLong
                ? [] : try blocks.places(user: user, type: type, seconds: segment.first...segment.last).reversed()
            try choose()
        }
    }

    static func statement(_ key: Key, in database: Database) throws -> Statement {
        let more =
            switch key.columns {
            case .none: ""
            case .payload: ", payload"
            case .all: ", uuid, metadata, payload"
            }
        let columns = "seq, born, second, start_us, duration, value, origin, flags, id, unit, created" + more
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
