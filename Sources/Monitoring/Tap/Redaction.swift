import HealthModel
import Protocol

/// Removes health values from messages, so that a tap's output may be shown to others. Pure.
///
/// Only pages, pushed data, conditions and a person's own entries carry health values. Conditions and entries are
/// hidden. In pages and pushed data, members known to hold none are kept (protocol, ids, types, times, sources);
/// everything else is hidden, including whatever later releases add.
package enum Redaction {
    package static let hidden: Value = "hidden"

    private static let pageMembers: Set<String> = [
        "id", "attempt", "producer", "part", "last", "head", "from", "through", "bulk", "error", "reason", "continue",
        "users", "user", "start", "end", "zones", "timeline", "imports", "types", "quarantined", "device",
        "registrations", "reasons", "moments", "sequence", "sample",
    ]
    private static let columns: Set<String> = [
        "types", "units", "origins", "id", "seq", "type", "unit", "start", "end", "origin", "flags", "created", "uuid",
        "item",
    ]
    private static let rowMembers: Set<String> = [
        "seq", "key", "topic", "user", "day", "deleted", "id", "type", "unit", "source", "start", "end",
    ]

    /// The members to keep in pushed data and in its answer.
    private static let pushedMembers: Set<String> = [
        "id", "part", "user", "device", "way", "last", "deleted", "outcomes", "beginAgain", "refused",
    ]

    /// The members known to hold no health values; nil for a message without any.
    private static func known(in topic: String) -> Set<String>? {
        if topic.hasPrefix("page.") { return pageMembers }
        return topic.hasPrefix("ingest.") || topic.hasPrefix("ingested.") ? pushedMembers : nil
    }

    package static func redact(_ message: Message) -> Message {
        // A person's own entries, and the conditions that handlers watch for that person, are private.
        if message.topic.hasPrefix("control."), var members = message.body.object {
            for name in ["conditions", "own"] where !message.body[name].isNull { members[name] = hidden }
            var redacted = message
            redacted.body = .object(members)
            return redacted
        }
        guard let known = known(in: message.topic), var members = message.body.object else { return message }
        for (name, value) in members where !known.contains(name) {
            switch name {
            case "samples", "records": members[name] = keeping(columns, of: value)
            case "rows": members[name] = .array((value.array ?? []).map { row($0) })
            default: members[name] = hidden
            }
        }
        var redacted = message
        redacted.body = .object(members)
        return redacted
    }

    /// A changelog's row or a sample, stripped of its content.
    package static func row(_ value: Value) -> Value { keeping(rowMembers, of: value) }

    private static func keeping(_ known: Set<String>, of value: Value) -> Value {
        guard let members = value.object else { return hidden }
        return .object(
            members.reduce(into: [:]) { $0[$1.key] = known.contains($1.key) || $1.value.isNull ? $1.value : hidden })
    }
}
