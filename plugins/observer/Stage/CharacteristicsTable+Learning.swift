import Changelog
import HealthImport
import HealthModel
import ObserverReading
import SQLite
import StageKit

extension CharacteristicsTable {
    /// Learns what an export says about its user. The newest export wins, in whatever order exports come in; an export
    /// that says nothing changes nothing.
    static func learn(_ info: ExportInfo, user: String, _ turn: Turn) throws {
        guard let birth = info.dateOfBirth?.description else { return }
        let exported = (info.date ?? .distantPast).microseconds
        let known = try known(of: user, turn)
        let knownBirth = known.members["dateOfBirth"]?.string
        // If two exports have the same date, the greater value wins, so that the order in which they arrive doesn't
        // matter.
        if let at = known.exported, let knownBirth, (at, knownBirth) >= (exported, birth) { return }
        var members = known.members
        members["dateOfBirth"] = .string(birth)
        try write(members, exported: exported, was: known, user: user, turn)
    }

    /// Adopts what another stack knows about the user; anything that it doesn't say stays as it is. The value counts
    /// until an export says otherwise, since that stack doesn't say which export it comes from.
    static func follow(_ members: Value, user: String, _ turn: Turn) throws {
        guard let given = members.object else { return }
        let known = try known(of: user, turn)
        let members = known.members.merging(given.filter { !$0.value.isNull }) { $1 }
        guard members != known.members else { return }
        try write(
            members, exported: known.exported ?? Instant.distantPast.microseconds, was: known, user: user, turn)
    }

    private struct Known {
        var members: [String: Value] = [:]
        var sequence = SequenceNumber.beginning
        /// nil if nothing is known.
        var exported: Int64?
    }

    private static func known(of user: String, _ turn: Turn) throws -> Known {
        let find = try turn.database.prepare("SELECT members, seq, exported FROM characteristics WHERE user = ?")
        return try find.with(user).firstRow { row in
            Known(
                members: try Value(json: row.bytes(0)).object ?? [:], sequence: SequenceNumber(row.int64(1)),
                exported: row.int64(2))
        } ?? Known()
    }

    private static func write(
        _ members: [String: Value], exported: Int64, was known: Known, user: String, _ turn: Turn
    ) throws {
        let stage = try turn.write()
        let sequence = known.members == members ? known.sequence : stage.nextSequence()
        try stage.database.prepare("INSERT OR REPLACE INTO characteristics VALUES (?, ?, ?, ?)")
            .with(user, sequence.value, exported, Value.object(members).json()).run()
    }
}
