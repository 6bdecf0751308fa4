import HealthModel
import SQLite

/// An entry of the quarantine, with what is known about it.
package struct QuarantinedRecord: Sendable {
    package var entry: QuarantineEntry
    /// nil if not even the type was understood.
    package var type: String?
    /// nil for input that wasn't understood.
    package var sample: Sample?

    package struct Sample: Sendable {
        package var start: Instant
        package var end: Instant
        /// NaN where there is no number.
        package var value: Double
        package var unit: String
        package var origin: Origin
        /// Seconds since 1970; 0 if unknown.
        package var created: Int64
        /// JSON; empty if there is none.
        package var metadata: String
        package var payload: String
    }
}

extension HealthStoreReader {
    /// The quarantine's entries, oldest first, one page at a time, each with its sample.
    /// - Parameters:
    ///   - after: the number of the last entry on the previous page; 0 for the first page.
    ///   - members: the members of an item that may say what it is a sample of, the first one first.
    package func quarantinedRecords(
        user: String? = nil, after: Int64 = 0, limit: Int,
        naming members: (QuarantineEntry) -> [String] = { _ in HealthStoreReader.typeMembers }
    ) throws -> [QuarantinedRecord] {
        try refresh()
        let query = try database.prepare(
            """
            SELECT type, second, start_us, duration, value, unit, origin, created, metadata, payload FROM samples
            WHERE user = ?1 AND type = ?2 AND second BETWEEN ?3 AND ?4 AND id = ?5
            """)
        var typesByUser: [String: [Int]] = [:]
        return try quarantine(user: user, after: after, limit: limit).map { entry in
            guard let id = entry.sample, let user = users.ids[entry.user] else {
                return QuarantinedRecord(
                    entry: entry, type: Self.type(inElement: entry.raw, members(entry)), sample: nil)
            }
            let types = try typesByUser[entry.user] ?? quarantinedTypes(user: user)
            typesByUser[entry.user] = types
            // An id begins with the start in milliseconds, or with 0 if that was before 1970.
            let second = Int64(id.high >> 16) / 1000
            for type in types {
                if let sample = try query.with(user, type, second == 0 ? Int64.min : second, second, id).firstRow({
                    try sample($0)
                }) {
                    return QuarantinedRecord(entry: entry, type: try self.types.name(type), sample: sample)
                }
            }
            return QuarantinedRecord(entry: entry, type: nil, sample: nil)
        }
    }

    private func sample(_ row: Statement) throws -> QuarantinedRecord.Sample {
        let start = row.int64(1) &* Instant.microsecondsPerSecond &+ row.int64(2)
        return .init(
            start: Instant(microseconds: start), end: Instant(microseconds: start &+ row.int64(3)),
            value: row.isNull(4) ? .nan : row.double(4),
            unit: units.names[row.int(5)] ?? "", origin: try origin(row.int(6)), created: row.int64(7),
            metadata: row.string(8), payload: row.string(9))
    }

    private func quarantinedTypes(user: Int) throws -> [Int] {
        let query = try database.prepare("SELECT type FROM heads WHERE user = ? AND (quarantined > 0 OR deleted > 0)")
        return try query.with(user).rows { $0.int(0) }
    }

    /// The type that an input states; the input is either an element of an export or an item of a request. It is
    /// "(Record without type)", "(damaged Record)", "(item without type)" or "(unreadable)" if the input states no
    /// type, or none that can be read.
    package static func typeOrElement(of raw: String) -> String {
        let type = type(inElement: raw)
        if let type, !type.isEmpty, type.utf8.count <= NameTable.longest {
            return raw.hasPrefix("<Workout ") ? HealthType.workoutIdentifier : type
        }
        guard raw.hasPrefix("<") else { return raw.hasPrefix("{") ? "(item without type)" : "(unreadable)" }
        let name = raw.dropFirst().prefix { $0.isLetter || $0.isNumber }.prefix(64)
        let isTorn = type == nil && typeAttributes.contains { raw.contains(" \($0)") }
        return isTorn ? "(damaged \(name))" : "(\(name) without type)"
    }

    private static let typeAttributes = ["type", "workoutActivityType"]
    /// A sample's type, or the name of its metric.
    package static let typeMembers = ["type", "name"]

    /// The type stated by an element's start tag or an item of a request, if any. A value without its closing quote
    /// extends into whatever follows it, and isn't a type.
    static func type(inElement raw: String, _ members: [String] = typeMembers) -> String? {
        if raw.hasPrefix("{") { return type(inItem: raw, members) }
        for name in typeAttributes {
            guard let found = raw.firstRange(of: " \(name)=\"") else { continue }
            let rest = raw[found.upperBound...]
            guard let end = rest.firstIndex(of: "\"") else { return nil }
            let type = rest[..<end]
            return type.contains { "=<>".contains($0) } ? nil : String(type)
        }
        return nil
    }

    /// What one of the members says, or the name of the item's section (`{"workouts": […]}`). Items that were too long
    /// were cut off when stored.
    private static func type(inItem raw: String, _ members: [String]) -> String? {
        if let item = try? Value(json: raw.utf8).object {
            if let name = members.lazy.compactMap({ item[$0]?.string }).first { return name }
            return item.count == 1 && item.first?.value.array != nil ? item.first?.key : nil
        }
        for name in members {
            guard let found = raw.firstRange(of: "\"\(name)\":") else { continue }
            let rest = raw[found.upperBound...].drop { $0 == " " }
            guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { continue }
            return String(rest.dropFirst()[..<end])
        }
        return nil
    }
}
