import HealthModel
import SQLite

/// Which elements requests created, changed or deleted, by user and list, in the order of their commits.
///
/// It holds only ids: a client gets each element as it is now. It is cut off: a client that is further behind reads all
/// rows again.
package final class ChangesLog {
    /// How many of the latest changes of a user's list are kept, at about 17 bytes each.
    package static let usual: Int64 = 100_000

    private struct Pending {
        var count: Int64 = 0
        var ids: [UInt8] = []
    }

    private let database: Database
    private let kept: Int64
    /// Of the current transaction, by `number`.
    private var pending = Array(repeating: Pending(), count: 1 + DocumentKind.allCases.count)

    /// `ending` is the number of changes that were ever logged for the user's list, up to and including this row's: a
    /// place in the log. `mark` is random: it shows whether a place was reached in this file, or in a newer one of which
    /// this is a copy.
    static let table = """
        CREATE TABLE IF NOT EXISTS change_log(
            user INTEGER NOT NULL, list INTEGER NOT NULL, ending INTEGER NOT NULL, mark INTEGER NOT NULL,
            ids BLOB NOT NULL, PRIMARY KEY(user, list, ending));
        """

    init(_ database: Database, kept: Int64) { (self.database, self.kept) = (database, kept) }

    /// - Parameter list: nil for samples.
    private static func number(_ list: DocumentKind?) -> Int { list.map { Int($0.rawValue) + 1 } ?? 0 }

    // MARK: Writing

    /// Records a written row.
    func note(_ list: DocumentKind?, _ id: ElementID) {
        pending[Self.number(list)].count += 1
        id.append(packed: &pending[Self.number(list)].ids)
    }

    /// Writes what was recorded, in the request's transaction.
    func commit(user: Int64) throws {
        for (list, changes) in pending.enumerated() where changes.count > 0 {
            let ending = try head(user, list) + changes.count
            try database.prepare(
                "INSERT INTO change_log(user, list, ending, mark, ids) VALUES(?1, ?2, ?3, ?4, ?5)"
            )
            .with(user, list, ending, Int64.random(in: 1...Int64.max), changes.ids).run()
            try database.prepare("DELETE FROM change_log WHERE user = ?1 AND list = ?2 AND ending < ?3")
                .with(user, list, ending - kept).run()
        }
        forget()
    }

    func forget() {
        for list in pending.indices {
            pending[list].count = 0
            pending[list].ids.removeAll(keepingCapacity: true)
        }
    }

    // MARK: Reading

    /// The place after the latest change.
    func head(user: Int64, _ list: DocumentKind?) throws -> Int64 { try head(user, Self.number(list)) }

    private func head(_ user: Int64, _ list: Int) throws -> Int64 {
        return try database.prepare(
            "SELECT coalesce(max(ending), 0) FROM change_log WHERE user = ?1 AND list = ?2"
        )
        .with(user, list).firstRow { $0.int64(0) } ?? 0
    }

    /// Identifies a place; nil if it was never reached, and that of a later place if it is no longer kept.
    func mark(user: Int64, _ list: DocumentKind?, at place: Int64) throws -> Int64? {
        if place == 0 { return 0 }
        return try database.prepare(
            "SELECT mark FROM change_log WHERE user = ?1 AND list = ?2 AND ending >= ?3 ORDER BY ending LIMIT 1"
        )
        .with(user, Self.number(list), place).firstRow { $0.int64(0) }
    }

    /// Passes the id of each change after a place to `body` until that returns false.
    /// - Returns: false if some of these changes are no longer kept.
    func forEach(
        user: Int64, _ list: DocumentKind?, after place: Int64, _ body: (ElementID) throws -> Bool
    ) throws -> Bool {
        let rows = try database.prepare(
            "SELECT ending, ids FROM change_log WHERE user = ?1 AND list = ?2 AND ending > ?3 ORDER BY ending"
        ).with(user, Self.number(list), place)
        defer { rows.reset() }
        var place = place
        while try rows.step() {
            let ids = rows.withBytes(1) { ElementID.list($0) }
            let ending = rows.int64(0)
            guard ending - Int64(ids.count) <= place else { return false }
            for id in ids.suffix(Int(ending - place)) {
                guard try body(id) else { return true }
            }
            place = ending
        }
        return true
    }
}

extension ElementID {
    /// A byte with the text's length, 0 for a UUID, then its bytes.
    fileprivate func append(packed bytes: inout [UInt8]) {
        switch self {
        case .uuid(let id):
            bytes.append(0)
            withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { bytes.append(contentsOf: $0) }
        case .text(let text):
            bytes.append(UInt8(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }
    }

    fileprivate static func list(_ bytes: UnsafeRawBufferPointer) -> [ElementID] {
        var ids: [ElementID] = []
        var rest = bytes[...]
        while let length = rest.popFirst() {
            let id = rest.prefix(length == 0 ? 16 : Int(length))
            ids.append(ElementID(column: UnsafeRawBufferPointer(rebasing: id), isUUID: length == 0))
            rest = rest.dropFirst(id.count)
        }
        return ids
    }
}
