import HealthModel

/// Two contents that arrived under one UUID: the content that was set aside, and the content of the sample, which stays
/// as it is. It is kept as text among the quarantined inputs, in the form in which an app would push the content as a
/// sample. Pure.
package struct RecordConflict: Sendable, Equatable {
    /// The reason why it is in quarantine, which doesn't contain a value.
    package static let reason = "its UUID belongs to a sample with other content"

    package struct Content: Sendable, Equatable {
        package var start: Instant
        package var end: Instant
        /// Nil if there is no number.
        package var value: Double?
        package var unit: String

        package init(start: Instant, end: Instant, value: Double?, unit: String) {
            (self.start, self.end, self.value, self.unit) = (start, end, value, unit)
        }
    }

    package var type: String
    package var uuid: String
    package var source: String
    /// What was set aside.
    package var other: Content
    /// nil if the UUID belongs to a sample of another type.
    package var kept: Content?

    package init(type: String, uuid: String, source: String, other: Content, kept: Content?) {
        (self.type, self.uuid, self.source, self.other, self.kept) = (type, uuid, source, other, kept)
    }

    /// Whether there is still anything to decide: the sample may have received the other content in the meantime.
    package var isOpen: Bool { kept.map { !$0.agrees(with: other) } ?? true }

    /// The text that is kept in quarantine.
    package var json: String {
        var members = Self.members(other)
        members["type"] = .string(type)
        members["uuid"] = .string(uuid)
        members["source"] = .string(source)
        if let kept { members["kept"] = .object(Self.members(kept)) }
        return Value.object(members).json()
    }

    /// The same content under the same UUID, with times to the second, always has the same key, whatever content the
    /// sample has at the time.
    var identity: String {
        var members = Self.members(
            Content(start: other.start.floored, end: other.end.floored, value: other.value, unit: other.unit))
        members["type"] = .string(type)
        members["uuid"] = .string(uuid)
        return Value.object(members).json()
    }

    /// nil for anything else.
    package init?(json: String) {
        guard let members = try? Value(json: Array(json.utf8)), let type = members["type"].string,
            let uuid = members["uuid"].string, let other = Self.content(members)
        else { return nil }
        self.init(
            type: type, uuid: uuid, source: members["source"].string ?? "", other: other,
            kept: Self.content(members["kept"]))
    }

    private static func members(_ content: Content) -> [String: Value] {
        [
            "start": .string(InstantText.iso8601(content.start)), "end": .string(InstantText.iso8601(content.end)),
            "value": content.value.map { .number($0) } ?? .null, "unit": .string(content.unit),
        ]
    }

    private static func content(_ members: Value) -> Content? {
        guard let start = members["start"].string.flatMap({ InstantText.parse($0) }),
            let end = members["end"].string.flatMap({ InstantText.parse($0) })
        else { return nil }
        return Content(start: start, end: end, value: members["value"].double, unit: members["unit"].string ?? "")
    }
}

extension RecordConflict.Content {
    init(_ row: StoredRow, unit: String) {
        self.init(
            start: Instant(microseconds: row.start), end: Instant(microseconds: row.end),
            value: row.value.isFinite ? row.value : nil, unit: unit)
    }

    /// Whether both contents are the same, by the rules for records with the same UUID.
    func agrees(with other: RecordConflict.Content) -> Bool {
        unit == other.unit && StoredValue.agrees(value ?? .nan, other.value ?? .nan)
            && abs(start.flooredSecond - other.start.flooredSecond) <= RecordClaim.tolerance
            && abs(end.flooredSecond - other.end.flooredSecond) <= RecordClaim.tolerance
    }
}

extension Instant {
    fileprivate var floored: Instant { Instant(seconds: flooredSecond) }
}
