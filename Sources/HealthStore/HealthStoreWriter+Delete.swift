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
                let known = try self.uuids.entry(uuid, user: user)
                if known?.isDeleted == true { return .known }
                guard let sequence = known?.sequence, let row = try rows.row(at: sequence, user: user) else {
                    try self.uuids.register(uuid, user: user, sequence: nil, isDeleted: true)
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
                guard let row = try rows.lookup.row(id: id, among: candidates, user: user), row.state != .deleted else {
                    continue
                }
                try leaveTombstone(row, as: .deleted, user: user)
                deleted += 1
            }
            return deleted
        }
    }

    /// The row with an id, whatever its type.
    func row(id: SampleID, user: Int) throws -> StoredRow? {
        try rows.lookup.row(id: id, among: typesHeld(by: user, named: nil), user: user)
    }

    /// - Parameter uuid: for a row that has no UUID.
    func leaveTombstone(_ old: StoredRow, as state: SampleState, uuid: SampleID? = nil, user: Int) throws {
        try rewrite(old, user: user) { ($0.state, $0.uuid) = (state, old.uuid ?? uuid) }
    }

    /// Lets rows disappear until something adds their samples again.
    func removeRows(at sequences: [SequenceNumber], user: Int) throws {
        // All pieces must be read again: their records could restore these rows.
        if !sequences.isEmpty { try pieces.forgetAll(user: user) }
        for sequence in sequences {
            if let row = try rows.row(at: sequence, user: user) { try leaveTombstone(row, as: .absent, user: user) }
        }
    }

    private func typesHeld(by user: Int, named name: String?) throws -> [Int] {
        if let name { return try types.existing(name).map { [$0] } ?? [] }
        let query = try database.prepare("SELECT type FROM heads WHERE user = ?")
        return try query.with(user).rows { $0.int(0) }
    }
}
