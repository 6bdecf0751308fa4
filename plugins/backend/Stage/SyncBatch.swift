import HealthModel
import SQLite

/// What the elements of one request share.
struct SyncBatch {
    var user: Int64
    var device: Int64
    var syncedAt: Instant
    /// The number of the request; `batches` stores the request's device and time under it.
    var number: Int64
}

/// Stores the sender and time once for all samples that arrived together.
final class SyncBatches {
    private let insert: Statement
    /// The highest number assigned so far.
    private var last: Int64
    /// The numbers assigned so far to batches of a database that is being updated.
    private var known: [Key: Int64] = [:]
    private static let capacity = 4096

    private struct Key: Hashable {
        var device: Int64
        var syncedAt: Int64
    }

    static let table = """
        CREATE TABLE IF NOT EXISTS batches(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, synced INTEGER NOT NULL);
        """

    init(_ database: Database) throws {
        insert = try database.prepare("INSERT INTO batches(id, device, synced) VALUES(?1, ?2, ?3)")
        last = try database.prepare("SELECT coalesce(max(id), 0) FROM batches").firstRow { $0.int64(0) } ?? 0
    }

    /// The number that the current request will have if it changes anything.
    var next: Int64 { last + 1 }

    /// Stores the current request's device and time. Call `committed` afterwards, unless the transaction fails.
    func keep(_ batch: SyncBatch) throws {
        try write(batch.number, device: batch.device, syncedAt: batch.syncedAt.microseconds)
    }

    func committed(_ number: Int64) { last = number }

    /// The number for rows that state their own device and time, assigned now if it is new.
    func number(device: Int64, syncedAt: Int64) throws -> Int64 {
        let key = Key(device: device, syncedAt: syncedAt)
        if let number = known[key] { return number }
        if known.count >= Self.capacity { known.removeAll() }
        last += 1
        known[key] = last
        try write(last, device: device, syncedAt: syncedAt)
        return last
    }

    private func write(_ number: Int64, device: Int64, syncedAt: Int64) throws {
        try insert.with(number, device, syncedAt).run()
    }
}
