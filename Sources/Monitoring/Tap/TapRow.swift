import HealthModel
import Protocol

/// A change in a changelog as shown by a tap. Pure.
struct TapRow: Sendable {
    var topic: String
    var sequence: SequenceNumber
    var body: Value

    static func rows(of page: ChangesPage) -> [TapRow] {
        page.rows.map { TapRow(topic: $0.topic, sequence: $0.sequence, body: Value($0)) }
    }

    /// - Throws: `StageError` for a page that can't be read.
    static func rows(of page: SamplesPage, producer: String) throws -> [TapRow] {
        guard page.isOwned else { throw StageError.unreadablePage(producer: producer) }
        let (samples, users, user) = (page.samples, page.users, page.user)
        return samples.ids.indices.map { row(samples, $0, user: users[Int(user[$0])]) }
    }

    private static func row(_ samples: SamplePage, _ row: Int, user: String) -> TapRow {
        let type = samples.types[Int(samples.type[row])]
        var body: [String: Value] = [
            "seq": .integer(samples.sequence[row]), "id": .string(samples.ids[row].description), "user": .string(user),
            "type": .string(type), "start": .string(InstantText.iso8601(samples.startOf(row))),
            "end": .string(InstantText.iso8601(samples.endOf(row))),
            "deleted": .bool(samples.flags[row].contains(.deleted)),
            "source": .string(samples.origins[Int(samples.origin[row])].sourceName),
        ]
        if samples.value[row].isFinite { body["value"] = .number(samples.value[row]) }
        if samples.unit.indices.contains(row) { body["unit"] = .string(samples.units[Int(samples.unit[row])]) }
        return TapRow(topic: "samples.\(type)", sequence: SequenceNumber(samples.sequence[row]), body: .object(body))
    }
}
