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
    /// - Parameter wholes: those that stand for all samples of a correlation.
    package func outcomes(ofDeleting uuids: [SampleID], wholes: Set<SampleID> = []) throws -> [RecordOutcome] {
        try change { user in
            try uuids.map { uuid in
                let known = try self.uuids.entry(uuid, user: user)
                if known?.isDeleted == true { return .known }
                guard let sequence = known?.sequence, let row = try rows.row(at: sequence, user: user) else {
                    try self.uuids.register(uuid, user: user, sequence: nil, isDeleted: true)
                    return .added
                }
                try leaveTombstone(row, as: .deleted, user: user)
                if wholes.contains(uuid) { try deleteCorrelation(of: row, user: user) }
                return .deleted
            }
        }
    }

    /// Deletes the correlation that a row is a part of, with its other parts.
    private func deleteCorrelation(of row: StoredRow, user: Int) throws {
        let (name, source) = (try types.name(row.type), try key(of: row))
        for type in [HealthType.bloodPressure, HealthType.food] {
            guard let whole = try correlation(type, holding: name, row, source: source, user: user) else { continue }
            let payload = try? Value(json: try rows.text(.payload, of: whole, user: user))
            try leaveTombstone(whole, as: .deleted, user: user)
            for part in payload?["parts"].array ?? [] {
                guard let name = part["type"].string, let value = part["value"].double else { continue }
                let found = try alive(name, like: row, source: source, user: user) {
                    StoredValue.agrees($0.value, value)
                }
                if let found { try leaveTombstone(found, as: .deleted, user: user) }
            }
            return
        }
    }

    /// The row of a correlation with the same source and times, one of whose parts is the given row.
    private func correlation(
        _ type: String, holding name: String, _ row: StoredRow, source: String, user: Int
    ) throws -> StoredRow? {
        try alive(type, like: row, source: source, user: user) { whole in
            let payload = try? Value(json: try rows.text(.payload, of: whole, user: user))
            return (payload?["parts"].array ?? []).contains {
                $0["type"].string == name && $0["value"].double.map { StoredValue.agrees($0, row.value) } == true
            }
        }
    }

    /// The first row of a type with the same source and times that is there and fits.
    private func alive(
        _ name: String, like row: StoredRow, source: String, user: Int, _ fits: (StoredRow) throws -> Bool
    ) throws -> StoredRow? {
        guard let type = try types.existing(name) else { return nil }
        let prefix = SampleKeyPrefix(user: self.user, type: name, sourceName: source)
        for ordinal in 0... {
            let id = SampleID(prefix, startSecond: row.second, endSecond: row.endSecond, ordinal: ordinal)
            guard let found = try rows.row(user: user, type: type, second: row.second, id: id) else { return nil }
            if found.state == .alive, try fits(found) { return found }
        }
        return nil
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
