import Glibc
import HealthModel
import JSON

/// The payload of a record that is kept as a whole, as an element of the export (a clinical record, a dose, or whatever
/// later versions add).
///
/// Such records have no numeric value, and many may share type, source and time: a hospital's results all arrive within
/// one second. So their content decides which record belongs to which row.
struct ElementBody {
    private let text: UnsafeRawBufferPointer
    private let members: [String: Value]

    /// Nil for any other payload.
    init?(_ record: IncomingRecord) {
        guard record.value.isNaN, let members = Self.members(of: record.payload) else { return nil }
        text = record.payload
        self.members = members
    }

    /// Whether a row's payload shows that the row is this element.
    enum Likeness { case same, perhaps, other }

    /// If both elements have an identifier, the identifiers decide, no matter what else has changed. Otherwise, the
    /// attributes that both have must be equal; a later export may have more attributes than an earlier one.
    func likeness(of payload: [UInt8]) -> Likeness {
        guard let others = payload.withUnsafeBytes({ Self.members(of: $0) }) else { return .perhaps }
        if let mine = members["identifier"], let other = others["identifier"] { return mine == other ? .same : .other }
        for (name, value) in members where value.string != nil {
            if let other = others[name], other != value { return .other }
        }
        return (JSONMembers.canonical(text) ?? [UInt8](text)) == payload ? .same : .perhaps
    }

    private static let mark = Array("\"element\":".utf8)

    private static func members(of payload: UnsafeRawBufferPointer) -> [String: Value]? {
        // Most payloads belong to workouts and needn't be parsed here.
        guard holdsMark(payload), let body = try? Value(json: [UInt8](payload)), body["element"].string != nil else {
            return nil
        }
        return body.object
    }

    private static func holdsMark(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return false }
        var at = 0
        while at + mark.count <= bytes.count, let found = memchr(base + at, 0x22, bytes.count - at) {
            at = UnsafeRawPointer(found) - base
            if bytes.count - at >= mark.count, memcmp(base + at, mark, mark.count) == 0 { return true }
            at += 1
        }
        return false
    }
}
