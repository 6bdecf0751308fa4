import HealthModel
import SQLite

extension HealthStoreWriter {
    /// Deletes samples by HealthKit UUID, permanently: a sample that isn't known yet will be refused when it arrives.
    /// - Returns: how many rows became tombstones.
    @discardableResult
    package func delete(uuids: [SampleID]) throws -> Int {
        try outcomes(ofDeleting: uuids).reduce(0) { $0 + ($1 == .deleted ? 1 : 0) }
    }

    /// The same as above, with the outcome for each: `deleted` for a sample that wasn't deleted yet, `known` for a
    /// sample that was deleted before, and `added` for a sample that isn't in the store, which will be refused in
    /// future.
    package func outcomes(ofDeleting uuids: [SampleID]) throws -> [RecordOutcome] {
        try change { user in
            try uuids.map { uuid in
                statements.findUUID.bind(1, user)
                statements.findUUID.bind(2, uuid)
                let found = try statements.findUUID.firstRow { ($0.isNull(0) ? nil : $0.int64(0), $0.int64(1) != 0) }
                if found?.1 == true { return .known }
                guard let sequence = found?.0, let row = try row(at: SequenceNumber(sequence), user: user) else {
                    try register(uuid, user: user, sequence: nil, deleted: true)
                    return .added
                }
                try leaveTombstone(row, as: .deleted, user: user)
                return .deleted
            }
        }
    }

    /// Deletes samples by their own id, permanently.
    /// - Parameter type: if given, only this type is searched.
    /// - Returns: how many rows became tombstones.
    @discardableResult
    package func delete(ids: [SampleID], type: String? = nil) throws -> Int {
        try change { user in
            var deleted = 0
            let candidates = try typesHeld(by: user, named: type)
            for id in ids {
                guard let row = try row(id: id, among: candidates, user: user), row.state != .deleted else { continue }
                try leaveTombstone(row, as: .deleted, user: user)
                deleted += 1
            }
            return deleted
        }
    }

    /// The row with an id, whatever its type.
    func row(id: SampleID, user: Int) throws -> StoredRow? {
        try row(id: id, among: typesHeld(by: user, named: nil), user: user)
    }

    private func row(id: SampleID, among types: [Int], user: Int) throws -> StoredRow? {
        // An id begins with the start in milliseconds, or with 0 if that was before 1970.
        let second = Int64(id.high >> 16) / 1000
        // The table of rows is searched first: it has an index, and only it contains quarantined or deleted samples.
        for type in types {
            if let row = try looseRow(user: user, type: type, second: second, id: id) { return row }
            if second == 0, let row = try blocks.row(before1970: id, user: user, type: type, in: database) {
                return row
            }
        }
        for type in types {
            if let found = try blocks.row(user: user, type: type, second: second, id: id) {
                return found.block.row(found.index)
            }
        }
        return nil
    }

    /// - Parameter uuid: for a row that has no UUID.
    func leaveTombstone(_ old: StoredRow, as state: SampleState, uuid: SampleID? = nil, user: Int) throws {
        var row = old
        row.state = state
        row.uuid = old.uuid ?? uuid
        try rewrite(&row, was: old, user: user)
    }

    private func typesHeld(by user: Int, named name: String?) throws -> [Int] {
        if let name { return try types.existing(name).map { [$0] } ?? [] }
        let query = try database.prepare("SELECT type FROM heads WHERE user = ?")
        query.bind(1, user)
        var types: [Int] = []
        try query.forEachRow { types.append($0.int(0)) }
        return types
    }
}
