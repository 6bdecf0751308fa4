import HealthModel

/// Types and units of a batch for which the store has no room. Every process that receives them would keep them in
/// memory, so inputs may invent only a limited number of them. Records with refused names go into quarantine as text,
/// like input that wasn't understood, and can be tried again.
struct RefusedNames {
    let types: Set<String>
    let units: Set<String>

    var isEmpty: Bool { types.isEmpty && units.isEmpty }

    func contains(_ row: Int, _ batch: RecordBatch) -> Bool {
        types.contains(batch.types[Int(batch.type[row])]) || units.contains(batch.units[Int(batch.unit[row])])
    }

    func reason(_ row: Int, _ batch: RecordBatch) -> String {
        let type = batch.types[Int(batch.type[row])]
        return types.contains(type)
            ? Self.reason(type, isType: true) : Self.reason(batch.units[Int(batch.unit[row])], isType: false)
    }

    /// Why a name was refused. The name isn't in the text.
    static func reason(_ name: String, isType: Bool) -> String {
        let kind = isType ? "type" : "unit"
        if name.utf8.count > NameTable.longest { return "the \(kind)'s name is longer than \(NameTable.longest) bytes" }
        return
            "its \(kind) isn't one that HealthKit has, and the store keeps no more than \(NameTable.limit) such \(kind)s"
    }
}

extension HealthStoreWriter {
    /// Puts rows into quarantine as text, as if they hadn't been understood.
    func keepApart(
        _ rows: [Int], _ refused: RefusedNames, _ batch: RecordBatch, _ session: ImportSession, isTrial: Bool
    ) throws -> IngestCounts.Tally {
        var tally = IngestCounts.Tally()
        let inputs = rows.map { row in
            QuarantinedInput(
                line: batch.line.isEmpty ? 0 : batch.line[row], reason: refused.reason(row, batch),
                raw: batch.element(row))
        }
        let dropped = try areDropped(inputs)
        tally.deleted = dropped.count { $0 }
        tally.quarantined = inputs.count - tally.deleted
        if session.reportsOutcomes {
            for (row, isDropped) in zip(rows, dropped) {
                if isDropped { session.outcomes[row] = .deleted }
                session.reasons[row] = refused.reason(row, batch)
            }
        }
        if !isTrial { tally.newlyQuarantined = try quarantine(inputs, session: session) }
        return tally
    }
}

extension RecordBatch {
    fileprivate func element(_ row: Int) -> String {
        ElementText.of(
            types[Int(type[row])], origins[Int(origin[row])], unit: units[Int(unit[row])], startOf(row), endOf(row),
            value[row])
    }
}

/// A sample as an element of an export.
enum ElementText {
    /// The element has no metadata, and is at most 4 KiB.
    static func of(
        _ type: String, _ origin: Origin, unit: String, _ start: Instant, _ end: Instant, _ value: Double
    ) -> String {
        var attributes = [
            ("type", type), ("sourceName", origin.sourceName), ("sourceVersion", origin.sourceVersion),
            ("device", origin.device), ("unit", unit), ("startDate", InstantText.iso8601(start)),
            ("endDate", InstantText.iso8601(end)),
        ]
        if !value.isNaN { attributes.append(("value", value.description)) }
        let text = attributes.filter { !$0.1.isEmpty }.map { " \($0.0)=\"\(XMLText.escaped($0.1))\"" }.joined()
        return text.utf8.count > 4000
            ? String(decoding: text.utf8.prefix(4000), as: UTF8.self) + "…" : "<Record\(text)/>"
    }
}
