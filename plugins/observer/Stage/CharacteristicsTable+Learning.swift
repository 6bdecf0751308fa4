import Changelog
import HealthImport
import HealthModel
import ObserverReading
import SQLite
import StageKit

extension CharacteristicsTable {
    /// Learns what an export says about its user. The newest export wins, in whatever order they come; one that doesn't
    /// say changes nothing.
    static func learn(_ info: ExportInfo, user: String, _ turn: Turn) throws {
        guard let birth = info.dateOfBirth else { return }
        let members = Value.object(["dateOfBirth": .string(birth.description)]).json()
        let exported = (info.date ?? .distantPast).microseconds
        let find = try turn.database.prepare("SELECT exported, members, seq FROM characteristics WHERE user = ?")
        find.bind(1, user)
        let known = try find.firstRow {
            (exported: $0.int64(0), members: $0.string(1), sequence: SequenceNumber($0.int64(2)))
        }
        // If two exports have the same date the greater value wins, so that the order in which they arrive doesn't
        // matter.
        if let known, (known.exported, known.members) >= (exported, members) { return }
        let stage = try turn.write()
        let write = try stage.database.prepare("INSERT OR REPLACE INTO characteristics VALUES (?, ?, ?, ?)")
        write.bind(1, user)
        write.bind(2, known?.members == members ? known?.sequence.value ?? 0 : stage.nextSequence().value)
        write.bind(3, exported)
        write.bind(4, members)
        try write.run()
    }

    /// Takes what another stack knows about the user. It counts until an export says otherwise: that stack doesn't say
    /// which export it has it from.
    static func follow(_ members: Value, user: String, _ turn: Turn) throws {
        guard members.object != nil else { return }
        let text = members.json()
        let find = try turn.database.prepare("SELECT exported, members FROM characteristics WHERE user = ?")
        find.bind(1, user)
        let known = try find.firstRow { (exported: $0.int64(0), members: $0.string(1)) }
        guard known?.members != text else { return }
        let stage = try turn.write()
        let write = try stage.database.prepare("INSERT OR REPLACE INTO characteristics VALUES (?, ?, ?, ?)")
        write.bind(1, user)
        write.bind(2, stage.nextSequence().value)
        write.bind(3, known?.exported ?? Instant.distantPast.microseconds)
        write.bind(4, text)
        try write.run()
    }
}
