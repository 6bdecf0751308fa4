import HealthModel
import SQLite

/// The tables `blocks` and `moved`, as one connection sees them. The first contains samples that arrived many at a
/// time, stored in columns; the second lists those that have since changed and moved to the table of rows.
final class BlockTable {
    /// A block in its current state.
    struct View {
        let block: SampleBlock
        /// A bit for each row, set if the row has moved; empty while none has.
        fileprivate var moved: [UInt64] = []

        /// The rows that start in the given seconds, whether they have moved or not.
        func rows(in seconds: ClosedRange<Int64>) -> Range<Int> {
            let end = seconds.upperBound == .max ? block.second.count : block.firstRow(from: seconds.upperBound + 1)
            return block.firstRow(from: seconds.lowerBound)..<end
        }

        @inline(__always)
        func isHere(_ row: Int) -> Bool { moved.isEmpty || moved[row >> 6] & 1 << UInt64(row & 63) == 0 }
    }

    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS blocks (last INTEGER PRIMARY KEY, first INTEGER NOT NULL, user INTEGER NOT NULL,
          type INTEGER NOT NULL, first_second INTEGER NOT NULL, last_second INTEGER NOT NULL, content BLOB NOT NULL)
        """,
        """
        CREATE INDEX IF NOT EXISTS blocks_time ON blocks (user, type, first_second, last_second, first)
        """,
        "CREATE TABLE IF NOT EXISTS moved (seq INTEGER PRIMARY KEY)",
    ]

    /// How many bytes of decoded blocks a writer or a reader keeps: about ten blocks. Decoding a block again takes less
    /// than a millisecond.
    private static let cacheLimit = 5 << 20
    /// No more blocks are created if this many already cover the same time.
    private static let overlapLimit = 8

    private let database: Database
    /// Nil for a store from an earlier release that this release's observer hasn't updated yet: it has no blocks.
    private var statements: BlockStatements?
    // The most recently used block comes last. Blocks can be cached because a block never changes and a sequence is
    // used only once.
    private var cache: [Int64: SampleBlock] = [:]
    private var recent: [Int64] = []
    private var cached = 0
    /// The last sequence of each block from which rows have moved in this transaction.
    private var thinned: Set<Int64> = []
    private var seenRollbacks: Int

    init(in database: Database) throws {
        self.database = database
        seenRollbacks = database.rollbackCount
        _ = try ready()
    }

    private func ready() throws -> BlockStatements? {
        if let statements { return statements }
        if try database.hasTable("moved") { statements = try BlockStatements(in: database) }
        return statements
    }

    /// Blocks written by a transaction that was rolled back no longer exist.
    private func forgetWhatWasUndone() {
        guard database.rollbackCount != seenRollbacks else { return }
        seenRollbacks = database.rollbackCount
        cache.removeAll()
        recent.removeAll()
        thinned.removeAll()
        cached = 0
    }

    // MARK: Finding

    /// The latest sequence in any block.
    func newest() throws -> Int64? { try ready()?.newest.firstNumber() }

    /// The first block with rows after a given sequence.
    func next(behind sequence: Int64) throws -> BlockPlace? {
        guard let next = try ready()?.next else { return nil }
        next.bind(1, sequence)
        return try next.firstRow(BlockStatements.place)
    }

    /// The row with a given sequence, if it is in a block.
    func row(at sequence: Int64) throws -> (block: SampleBlock, index: Int)? {
        guard let place = try next(behind: sequence - 1), place.first <= sequence else { return nil }
        guard let hasMoved = try ready()?.hasMoved else { return nil }
        hasMoved.bind(1, sequence)
        guard try !hasMoved.hasRow() else { return nil }
        return (try block(place), Int(sequence - place.first))
    }

    /// The row with this id that starts in this second, if it is in a block.
    func row(user: Int, type: Int, second: Int64, id: SampleID) throws -> StoredRow? {
        for view in try views(user: user, type: type, seconds: second...second) {
            let rows = view.rows(in: second...second)
            if let index = rows.first(where: { view.block.id[$0] == id && view.isHere($0) }) {
                return view.block.row(index)
            }
        }
        return nil
    }

    /// The blocks with rows that start in the given seconds, ordered by when they begin.
    func views(user: Int, type: Int, seconds: ClosedRange<Int64>) throws -> [View] {
        try places(user: user, type: type, seconds: seconds).map { try view($0) }
    }

    /// The places of the blocks with rows that start in the given seconds, without reading their contents.
    func places(user: Int, type: Int, seconds: ClosedRange<Int64>) throws -> [BlockPlace] {
        var places: [BlockPlace] = []
        try forEachPlace(user: user, type: type, seconds: seconds) {
            places.append($0)
            return true
        }
        return places
    }

    /// Visits the places of the blocks with rows that start in the given seconds. Calls can't be nested: there is only
    /// one statement for each direction.
    /// - Parameters:
    ///   - descending: starts with the block that begins last.
    ///   - body: returns false to stop.
    func forEachPlace(
        user: Int, type: Int, seconds: ClosedRange<Int64>, descending: Bool = false,
        _ body: (BlockPlace) throws -> Bool
    ) throws {
        guard let statements = try ready() else { return }
        let query = descending ? statements.latest : statements.earliest
        defer { query.reset() }
        query.bind(1, user)
        query.bind(2, type)
        let (from, overflow) = seconds.lowerBound.subtractingReportingOverflow(PendingBlock.span)
        query.bind(3, overflow ? .min : from)
        query.bind(4, seconds.upperBound)
        query.bind(5, seconds.lowerBound)
        while try query.step() {
            if try !body(BlockStatements.place(query)) { return }
        }
    }

    /// The block at a place, and which of its rows have moved.
    func view(_ place: BlockPlace) throws -> View {
        var view = View(block: try block(place))
        guard let moved = try ready()?.moved else { return view }
        moved.bind(1, place.first)
        moved.bind(2, place.last)
        try moved.forEachRow { row in
            if view.moved.isEmpty { view.moved = [UInt64](repeating: 0, count: place.count / 64 + 1) }
            let index = Int(row.int64(0) - place.first)
            view.moved[index >> 6] |= 1 << UInt64(index & 63)
        }
        return view
    }

    private func block(_ place: BlockPlace) throws -> SampleBlock {
        forgetWhatWasUndone()
        if let block = cache[place.last], block.place == place {
            if recent.last != place.last, let index = recent.lastIndex(of: place.last) {
                recent.append(recent.remove(at: index))
            }
            return block
        }
        guard let content = try ready()?.content else { throw HealthStoreError.damagedBlock(place.last) }
        let found = try content.with(place.last).firstRow { row in
            try row.withBytes(0) { bytes in
                do { return try SampleBlock(place, content: bytes) } catch {
                    throw HealthStoreError.damagedBlock(place.last)
                }
            }
        }
        guard let block = found else { throw HealthStoreError.damagedBlock(place.last) }
        keep(block)
        return block
    }

    private func keep(_ block: SampleBlock) {
        if let old = cache.updateValue(block, forKey: block.place.last) {
            cached -= old.byteCount
            recent.removeAll { $0 == block.place.last }
        }
        recent.append(block.place.last)
        cached += block.byteCount
        while cached > Self.cacheLimit, recent.count > 1 {
            cached -= cache.removeValue(forKey: recent.removeFirst())?.byteCount ?? 0
        }
    }

    // MARK: Writing

    /// Writes the rows as a block, unless too many blocks already cover their time.
    /// - Returns: whether the block was written; if not, the rows belong in the table of rows.
    func seal(_ pending: PendingBlock, user: Int) throws -> Bool {
        guard let statements = try ready(), let first = pending.rows.first,
            let last = pending.rows.last,
            try places(user: user, type: first.type, seconds: first.second...last.second).count < Self.overlapLimit
        else { return false }
        let content = BlockContent.encode(pending.rows, metadata: pending.metadata, payload: pending.payload)
        try statements.insert.with(
            last.sequence.value, first.sequence.value, user, first.type, first.second, last.second, content
        ).run()
        return true
    }

    /// Records that the row with the given sequence has a newer version in the table of rows.
    func leave(_ sequence: Int64, of place: BlockPlace) throws {
        forgetWhatWasUndone()
        guard let leave = try ready()?.leave else { return }
        leave.bind(1, sequence)
        try leave.run()
        thinned.insert(place.last)
    }

    /// Drops blocks from which every row has moved.
    func dropEmptied() throws {
        guard !thinned.isEmpty, let statements = try ready() else { return }
        for last in thinned {
            guard let place = try next(behind: last - 1), place.last == last else { continue }
            let moved = try statements.movedCount.with(place.first, place.last).firstRow { $0.int(0) }
            guard moved == place.count else { continue }
            for drop in [statements.dropBlock, statements.dropMoved] { try drop.with(place.first, place.last).run() }
        }
        thinned.removeAll()
    }
}

/// A connection's statements for the tables of blocks.
private final class BlockStatements {
    let newest: Statement
    let next: Statement
    let earliest: Statement
    let latest: Statement
    let content: Statement
    let moved: Statement
    let hasMoved: Statement
    let insert: Statement
    let leave: Statement
    let movedCount: Statement
    let dropBlock: Statement
    let dropMoved: Statement

    init(in database: Database) throws {
        let place = "SELECT first, last, user, type, first_second, last_second FROM blocks"
        newest = try database.prepare("SELECT max(last) FROM blocks")
        next = try database.prepare("\(place) WHERE last > ? ORDER BY last LIMIT 1")
        let byTime = """
            \(place) INDEXED BY blocks_time WHERE user = ?1 AND type = ?2 AND first_second >= ?3 AND first_second <= ?4
            AND last_second >= ?5 ORDER BY first_second
            """
        earliest = try database.prepare(byTime)
        latest = try database.prepare(byTime + " DESC")
        content = try database.prepare("SELECT content FROM blocks WHERE last = ?")
        moved = try database.prepare("SELECT seq FROM moved WHERE seq >= ? AND seq <= ?")
        hasMoved = try database.prepare("SELECT 1 FROM moved WHERE seq = ?")
        insert = try database.prepare("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?)")
        leave = try database.prepare("INSERT INTO moved VALUES (?)")
        movedCount = try database.prepare("SELECT count(*) FROM moved WHERE seq >= ? AND seq <= ?")
        dropBlock = try database.prepare("DELETE FROM blocks WHERE first = ?1 AND last = ?2")
        dropMoved = try database.prepare("DELETE FROM moved WHERE seq >= ?1 AND seq <= ?2")
    }

    static func place(_ row: Statement) throws -> BlockPlace {
        let place = BlockPlace(
            first: row.int64(0), last: row.int64(1), user: row.int(2), type: row.int(3), firstSecond: row.int64(4),
            lastSecond: row.int64(5))
        let (length, overflow) = place.last.subtractingReportingOverflow(place.first)
        guard !overflow, (0..<Int64(PendingBlock.rowLimit)).contains(length) else {
            throw HealthStoreError.damagedBlock(place.last)
        }
        return place
    }
}
