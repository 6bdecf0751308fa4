import HealthModel
import JSON
import SQLite

// A person may change a sample that they entered, and decide which of two contents is right. The sample then gets a new
// version.
extension HealthStoreWriter {
    /// Why a sample can't be true, without giving its value; nil if it can.
    package static func refusal(
        start: Instant, end: Instant, value: Double, rule: (Double, Instant, Instant) -> String?
    ) -> String? {
        SampleGuard.reason(start: start.microseconds, end: end.microseconds, value: value, rule: rule)
    }

    /// Gives a sample another value, without changing its time.
    /// - Parameter metadata: a JSON object that replaces the existing metadata.
    /// - Returns: false if there is no sample with that UUID.
    package func revise(uuid: SampleID, value: Double, unit: String, metadata: [UInt8]) throws -> Bool {
        try change { user in
            guard let old = try aliveRow(uuid, user: user) else { return false }
            let unit = try units.id(unit)
            let row = try rewrite(old, user: user) { ($0.value, $0.unit) = (value, unit) }
            let canonical = metadata.withUnsafeBytes { JSONMembers.canonical($0) }
            try rows.set(.metadata, of: row, canonical ?? metadata)
            return true
        }
    }

    /// Gives a new version, with the same content, to a type's newest sample that has a UUID and isn't in a block, so
    /// that its figures are looked at again.
    package func touchNewest(of type: String) throws {
        try change { user in
            guard let type = try types.existing(type) else { return }
            let find = try database.prepare(
                """
                SELECT \(StoredRow.columns) FROM samples WHERE user = ? AND type = ? AND state = 0 AND uuid IS NOT NULL
                ORDER BY second DESC LIMIT 1
                """)
            guard let old = try find.with(user, type).firstRow({ StoredRow($0) }) else { return }
            try rewrite(old, user: user)
        }
    }

    /// The row that has a UUID, if it counts.
    func aliveRow(_ uuid: SampleID, user: Int) throws -> StoredRow? {
        guard let sequence = try uuids.entry(uuid, user: user)?.sequence,
            let row = try rows.row(at: sequence, user: user), row.state == .alive
        else { return nil }
        return row
    }
}
