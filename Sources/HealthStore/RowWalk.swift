import HealthModel
import SQLite

/// A row as seen by a walk.
struct WalkedRow {
    /// In a walk that reads only times, just the sequence, type, state, birth, times, flags, creation time and UUID are
    /// filled.
    var row: StoredRow
    var user: Int
}

/// The metadata and payload of a walk's current row, valid only while the walk is at that row.
enum WalkedTexts {
    case row(Statement, metadata: Int, payload: Int)
    case block(SampleBlock, Int)

    func withMetadata<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        switch self {
        case .row(let row, let column, _): try row.withBytes(column, body)
        case .block(let block, let index): try block.metadata.withText(index, body)
        }
    }

    func withPayload<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        switch self {
        case .row(let row, _, let column): try row.withBytes(column, body)
        case .block(let block, let index): try block.payload.withText(index, body)
        }
    }
}

/// Walks a store's samples in sequence order, wherever they are stored. Each sequence in a block's range belongs to
/// that block alone, so the walk alternates between the two tables.
final class RowWalk {
    enum Columns {
        /// Times, and the members that show where a row comes from.
        case times
        case all
    }

    private let columns: Columns
    private let blocks: BlockTable
    private let query: Statement

    init(_ columns: Columns, in database: Database, _ blocks: BlockTable) throws {
        (self.columns, self.blocks) = (columns, blocks)
        let names =
            columns == .all
            ? "\(StoredRow.columns), user, payload"
            : "seq, type, state, second, start_us, duration, flags, created, uuid, user, born"
        query = try database.prepare("SELECT \(names) FROM samples WHERE seq > ?1 AND seq <= ?2 ORDER BY seq")
    }

    /// - Parameters:
    ///   - stretches: the stretches in which the table of rows has rows of the wanted types; nil to walk all of it.
    ///   - wants: whether rows of a given user and type may be wanted; blocks of other users and types are skipped.
    ///   - visit: returns false to end the walk.
    /// - Returns: whether it reached the end of the window.
    func run(
        _ window: SequenceWindow, stretches: Stretches.Walk? = nil,
        wants: (_ user: Int, _ type: Int) throws -> Bool = { _, _ in true },
        _ visit: (WalkedRow, WalkedTexts) throws -> Bool
    ) throws -> Bool {
        let end = window.through.value
        var at = window.after.value
        while at < end {
            let block = try blocks.next(behind: at)
            let before = min(end, (block?.first ?? .max) - 1)
            if at < before, try !rows(behind: at, through: before, stretches, visit) { return false }
            guard let block, block.first <= end else { return true }
            let last = min(end, block.last)
            if try wants(block.user, block.type), try !rows(of: block, behind: at, through: last, visit) {
                return false
            }
            at = last
        }
        return true
    }

    private func rows(
        of place: BlockPlace, behind after: Int64, through last: Int64,
        _ visit: (WalkedRow, WalkedTexts) throws -> Bool
    ) throws -> Bool {
        let view = try blocks.view(place)
        for index in max(0, Int(after + 1 - place.first))...Int(last - place.first) where view.isHere(index) {
            let row = view.block.row(index)
            let walked = WalkedRow(row: row, user: place.user)
            if try !visit(walked, .block(view.block, index)) { return false }
        }
        return true
    }

    private func rows(
        behind after: Int64, through end: Int64, _ stretches: Stretches.Walk?,
        _ visit: (WalkedRow, WalkedTexts) throws -> Bool
    ) throws -> Bool {
        var at = SequenceNumber(after)
        let through = SequenceNumber(end)
        while at.value < end {
            let whole = SequenceWindow(after: at, through: through)
            guard let part = try stretches.map({ try $0.next(behind: at, through: through) }) ?? whole else {
                return true
            }
            defer { query.reset() }
            query.bind(1, part.after.value)
            query.bind(2, part.through.value)
            while try query.step() {
                let (row, metadata, payload) = (read(), StoredRow.metadataColumn, StoredRow.columnCount + 1)
                if try !visit(row, .row(query, metadata: metadata, payload: payload)) { return false }
            }
            at = part.through
        }
        return true
    }

    private func read() -> WalkedRow {
        if columns == .all { return WalkedRow(row: StoredRow(query), user: query.int(StoredRow.columnCount)) }
        var row = StoredRow()
        row.sequence = SequenceNumber(query.int64(0))
        row.type = query.int(1)
        row.state = SampleState(rawValue: UInt8(truncatingIfNeeded: query.int64(2))) ?? .quarantined
        row.second = query.int64(3)
        row.startRemainder = query.int64(4)
        row.duration = query.int64(5)
        row.flags = UInt8(truncatingIfNeeded: query.int64(6))
        row.created = query.int64(7)
        row.uuid = query.sampleID(8)
        let born = SequenceNumber(query.int64(10))
        row.born = born == .beginning ? row.sequence : born
        return WalkedRow(row: row, user: query.int(9))
    }
}
