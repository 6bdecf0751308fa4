import HealthModel
import SQLite

extension HealthStoreReader {
    /// Returns a conflict together with the content that is stored under its UUID now. A later version may have come
    /// since the conflict was set aside, and whoever decides needs to know what would be replaced.
    /// - Returns: the same conflict if no such sample is alive any more.
    package func current(_ conflict: RecordConflict, user: String) throws -> RecordConflict {
        try refresh()
        guard let user = users.ids[user], let uuid = SampleID(conflict.uuid) else { return conflict }
        let find = try database.prepare("SELECT seq FROM uuids WHERE user = ? AND uuid = ? AND seq IS NOT NULL")
        find.bind(1, user)
        find.bind(2, uuid)
        guard let sequence = try find.firstRow({ SequenceNumber($0.int64(0)) }) else { return conflict }
        var shown = conflict
        let window = SequenceWindow(after: SequenceNumber(sequence.value - 1), through: sequence)
        _ = try RowWalk(.all, in: database, blocks).run(window) { walked, _ in
            let row = walked.row
            guard row.state == .alive else { return false }
            let isSameType = try types.name(row.type) == conflict.type
            shown.kept =
                isSameType
                ? RecordConflict.Content(
                    start: Instant(microseconds: row.start), end: Instant(microseconds: row.end),
                    value: row.value.isFinite ? row.value : nil, unit: units.names[row.unit] ?? "") : nil
            return false
        }
        return shown
    }
}
