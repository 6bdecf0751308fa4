import HealthModel
import SQLite

extension HealthStoreReader {
    /// Returns a conflict together with the content that is stored under its UUID now. A later version may have come
    /// since the conflict was set aside, and whoever decides needs to know what would be replaced.
    /// - Returns: the same conflict if no such sample is alive any more.
    package func current(_ conflict: RecordConflict, user: String) throws -> RecordConflict {
        try refresh()
        guard let user = users.ids[user], let uuid = SampleID(conflict.uuid),
            let row = try row(uuid: uuid, user: user), row.state == .alive
        else { return conflict }
        var shown = conflict
        let isSameType = try types.name(row.type) == conflict.type
        shown.kept = isSameType ? RecordConflict.Content(row, unit: units.names[row.unit] ?? "") : nil
        return shown
    }
}
