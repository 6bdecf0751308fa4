import DeliveryKit
import HealthModel
import PostgresStore

/// The tables of a `PostgresStore` in memory, with the outcomes of its statements. Rows are read from what the store's
/// own code would send to the server.
struct PostgresTables {
    struct Row: Equatable {
        var version: Int64
        var isDeleted: Bool
        /// By their names in the tables, without NULL; times in microseconds since 1970.
        var columns: [String: Value]

        /// Whether the other takes its place: the condition of `Upsert.update`.
        func givesWay(to other: Row) -> Bool {
            other.version > version || other.version == version && other.isDeleted && !isDeleted
        }

        /// What makes a row of the same version a conflict if it differs. An empty object counts as none.
        var content: [String: Value] {
            var content = columns.mapValues(\.withoutNulls).filter { $0.value != [:] }
            content["healthkit_uuid"] = nil
            return content
        }
    }

    private struct Place: Hashable {
        var user: String
        var list: HeldList
    }

    private struct Staged {
        var place: Place
        var id: String
        var row: Row
    }

    private(set) var identity: PostgresIdentity
    private var rows: [Place: [String: Row]] = [:]

    /// An empty database.
    init(generation: String) { identity = PostgresIdentity(generation: generation, sequence: 0) }

    /// All rows, tombstones included, by list, user and id.
    var named: [String: Row] {
        var named: [String: Row] = [:]
        for (place, table) in rows {
            for (id, row) in table { named["\(place.list.rawValue) \(place.user) \(id)"] = row }
        }
        return named
    }

    // MARK: Writing

    /// - Parameter other: the generation that begins if this turns out to be an older copy.
    mutating func put(
        _ batch: PostgresBatch, seen: PostgresIdentity?, ifOlder other: String
    ) throws -> PostgresOutcome {
        if let seen, seen.generation == identity.generation, identity.sequence < seen.sequence {
            identity = PostgresIdentity(generation: other, sequence: seen.sequence)
        }
        let (samples, documents) = (SampleRows(batch), DocumentRows(batch))
        var outcome = PostgresOutcome(identity: identity)
        outcome.refused = samples.refused.merging(documents.refused) { first, _ in first }
        upsert(try Self.staged(samples, of: batch.user), &outcome)
        for row in samples.manual { putManual(try Self.manual(row, of: batch), &outcome) }
        upsert(
            try Self.rows(documents.bytes, Self.documentColumns).compactMap { columns in
                let list = columns["kind"]?.string.flatMap { HeldList(rawValue: $0 + "s") }
                return list.map { Self.staged(columns, Place(user: batch.user, list: $0)) }
            }, &outcome)
        if outcome.created + outcome.updated > 0 { identity.sequence += 1 }
        outcome.identity = identity
        return outcome
    }

    private mutating func upsert(_ staged: [Staged], _ outcome: inout PostgresOutcome) {
        var newest: [Place: [String: Staged]] = [:]
        for new in staged where newest[new.place]?[new.id]?.row.givesWay(to: new.row) ?? true {
            newest[new.place, default: [:]][new.id] = new
        }
        var changed = 0
        for new in newest.values.flatMap(\.values) {
            if let held = rows[new.place]?[new.id] {
                guard held.givesWay(to: new.row) else { continue }
                rows[new.place]?[new.id] = Self.merged(new, over: held)
                outcome.updated += 1
            } else {
                rows[new.place, default: [:]][new.id] = new.row
                outcome.created += 1
            }
            changed += 1
        }
        outcome.known += Int64(staged.count - changed)
        outcome.conflicts += staged.filter(contradicts).map(\.id)
    }

    /// A deletion keeps what is known of the times, and a sample keeps its UUID.
    private static func merged(_ new: Staged, over held: Row) -> Row {
        var row = new.row
        if new.place.list == .samples {
            row.columns["healthkit_uuid"] = row.columns["healthkit_uuid"] ?? held.columns["healthkit_uuid"]
        }
        guard row.isDeleted else { return row }
        if new.place.list == .samples {
            for name in ["type", "start_time", "end_time"] {
                row.columns[name] = held.columns[name] ?? row.columns[name]
            }
        } else {
            for name in ["start_time", "end_time", "date"] { row.columns[name] = held.columns[name] }
        }
        return row
    }

    private func contradicts(_ new: Staged) -> Bool {
        guard let held = rows[new.place]?[new.id], held.version == new.row.version else { return false }
        return !held.isDeleted && !new.row.isDeleted && held.content != new.row.content
    }

    /// Of the manual samples of one user, type and start, only the newest stays.
    private mutating func putManual(_ new: Staged, _ outcome: inout PostgresOutcome) {
        let own = rows[new.place]?[new.id]
        if let own, own.version >= new.row.version {
            outcome.known += 1
            if contradicts(new) { outcome.conflicts.append(new.id) }
            return
        }
        let moment = [new.row.columns["type"], new.row.columns["start_time"]]
        let other = rows[new.place]?.first { id, row in
            id != new.id && !row.isDeleted && row.columns["manual"] == true && moment[0] != nil
                && [row.columns["type"], row.columns["start_time"]] == moment
        }
        if let other, other.value.version >= new.row.version {
            guard let own else {
                outcome.known += 1
                return
            }
            rows[new.place]?[new.id] = Self.tombstone(own, version: new.row.version)
            outcome.updated += 1
            return
        }
        if let other { rows[new.place]?[other.key] = Self.tombstone(other.value, version: other.value.version) }
        rows[new.place, default: [:]][new.id] = own.map { Self.merged(new, over: $0) } ?? new.row
        if own == nil { outcome.created += 1 } else { outcome.updated += 1 }
    }

    private static func tombstone(_ row: Row, version: Int64) -> Row {
        var row = Row(version: version, isDeleted: true, columns: row.columns)
        for name in ["value", "unit", "source", "metadata", "payload"] { row.columns[name] = nil }
        row.columns["manual"] = false
        return row
    }

    // MARK: Reading

    /// Every key was created once, and none is ever removed.
    func holdings(countsRows: Bool) -> BackendHoldings {
        let count = rows.values.reduce(0) { $0 + Int64($1.count) }
        return BackendHoldings(
            generation: identity.generation, sequence: identity.sequence, created: count,
            kept: countsRows ? count : nil, takesColumns: true)
    }

    func held(_ question: HeldQuestion) throws -> HeldPage {
        let isOfSamples = question.list == .samples
        let table = rows[Place(user: question.user, list: question.list)] ?? [:]
        let limit = isOfSamples ? question.limit : min(question.limit, 500)
        let first = question.cursor.flatMap { SampleID($0) } ?? question.after ?? SampleID(high: 0, low: 0)
        let after = isOfSamples ? first.description : question.cursor ?? ""
        let ids = table.keys.filter { after < $0 }.sorted().prefix(limit)
        let page = try ids.compactMap { id in
            try table[id].map { row in
                HeldPage.Row(
                    named: id,
                    held: HeldVersion(
                        version: row.version, isDeleted: row.isDeleted,
                        content: row.isDeleted ? nil : try Self.number(of: row.columns, isOfSamples)))
            }
        }
        return HeldPage(
            rows: page, next: ids.count < limit ? nil : ids.last, generation: identity.generation,
            isOrdered: isOfSamples)
    }

    private static func number(of columns: [String: Value], _ isOfSample: Bool) throws -> Int64 {
        guard isOfSample else { return try ContentNumber.document(json: (columns["body"] ?? .null).json().utf8) }
        func text(_ name: String) -> UInt64 { ContentNumber.text(columns[name]?.string ?? "") }
        func time(_ name: String) -> Instant { Instant(microseconds: columns[name]?.int ?? 0) }
        return ContentNumber.sample(
            type: text("type"), start: time("start_time"), end: time("end_time"), value: columns["value"]?.double,
            source: text("source"))
    }
}

// MARK: What is sent to the server

extension PostgresTables {
    private static let sampleColumns = SampleRows.columns.split(separator: ", ").map(String.init)
    private static let documentColumns = DocumentRows.columns.split(separator: ", ").map(String.init)

    private static func staged(_ samples: SampleRows, of user: String) throws -> [Staged] {
        try rows(samples.bytes, sampleColumns).map { staged($0, Place(user: user, list: .samples)) }
    }

    private static func staged(_ columns: [String: Value], _ place: Place) -> Staged {
        var row = Row(
            version: columns["version"]?.int ?? 0, isDeleted: columns["deleted"] == true, columns: columns)
        for name in ["kind", "id", "version", "deleted"] { row.columns[name] = nil }
        return Staged(place: place, id: columns["id"]?.string ?? "", row: row)
    }

    /// A manual sample is sent as parameters of a statement, with the same values as one that isn't has as a row.
    private static func manual(_ row: Int, of batch: PostgresBatch) throws -> Staged {
        var single = PostgresBatch(user: batch.user, samples: batch.samples.select([row]))
        single.samples.flags = single.samples.flags.map { $0.subtracting(.manual) }
        guard var new = try staged(SampleRows(single), of: batch.user).first else { throw UnreadableRow() }
        new.row.columns["manual"] = true
        return new
    }

    private struct UnreadableRow: Error {}

    /// Reads what `CopyRows` writes.
    private static func rows(_ bytes: [UInt8], _ names: [String]) throws -> [[String: Value]] {
        // The signature, the flags and the length of the extension.
        var rest = bytes.dropFirst(19)
        func take(_ count: Int) -> ArraySlice<UInt8> {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        let isOfSamples = names == sampleColumns
        var rows: [[String: Value]] = []
        while Int16(truncatingIfNeeded: word(take(2))) == names.count {
            var columns: [String: Value] = [:]
            for name in names {
                let length = Int32(truncatingIfNeeded: word(take(4)))
                if length >= 0 { columns[name] = try value(name, take(Int(length)), isOfSample: isOfSamples) }
            }
            rows.append(columns)
        }
        return rows
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func value(_ name: String, _ field: ArraySlice<UInt8>, isOfSample: Bool) throws -> Value {
        switch name {
        case "id" where isOfSample, "healthkit_uuid":
            .string(SampleID(high: word(field.prefix(8)), low: word(field.dropFirst(8))).description)
        case "version": .integer(Int64(bitPattern: word(field)))
        case "deleted", "manual": .bool(field.first == 1)
        // The server counts from midnight on 1 January 2000.
        case "start_time", "end_time": .integer(Int64(bitPattern: word(field)) + 946_684_800_000_000)
        case "date": .string("\(LocalDay(number: Int(Int32(truncatingIfNeeded: word(field))) + 10_957))")
        case "value": .number(Double(bitPattern: word(field)))
        // A byte for the version of the format comes first.
        case "metadata", "payload", "body": try Value(json: field.dropFirst())
        default: .string(String(decoding: field, as: UTF8.self))
        }
    }
}

extension Value {
    /// As PostgreSQL's `jsonb_strip_nulls`.
    fileprivate var withoutNulls: Value {
        switch self {
        case .object(let members): .object(members.filter { !$0.value.isNull }.mapValues(\.withoutNulls))
        case .array(let elements): .array(elements.map(\.withoutNulls))
        default: self
        }
    }
}
