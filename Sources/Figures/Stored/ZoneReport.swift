import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

/// `healthbus zone`: a person's timeline, and where each of its entries comes from.
package struct ZoneReport {
    package let user: String
    package let parts: [ZonePlan.Part]

    package init(user: String, parts: [ZonePlan.Part]) { (self.user, self.parts) = (user, parts) }

    /// Reads it from a stack, running or not.
    /// - Throws: `Failure` for a user without a timeline.
    package init(_ stack: Stack, user: String) throws {
        let page = try stack.reader().pages(
            try stack.instance(.observer), .timeline(user: user)
        ).first
        guard let parts = page?.timeline else {
            let users = page?.users ?? []
            throw Failure(
                users.isEmpty ? "no zones yet in \(stack.place)" : "there is no user '\(user)'",
                hint: users.isEmpty
                    ? "'healthbus up' begins a timeline"
                    : Nearest.hint(
                        for: user, among: users, else: Nearest.users(users)))
        }
        self.init(user: user, parts: parts)
    }

    package var json: String {
        get throws {
            let entries = try rows().map { row -> Value in
                let part = row.part
                return [
                    "from": part.from == .distantPast ? .null : .string(InstantText.iso8601(part.from)),
                    "local": Value(row.local), "zone": .string(part.zone), "offset": .string(row.offset),
                    "origin": .string(part.origin.rawValue),
                ]
            }
            return Value.object(["user": .string(user), "entries": .array(entries)]).json(pretty: true)
        }
    }

    package func table(for terminal: Terminal) throws -> String {
        var table = Table([
            .init("From (local)"), .init("From (UTC)", givesWay: 2), .init("Zone"), .init("Offset", givesWay: 1),
            .init("Known by"),
        ])
        for row in try rows() {
            let from = row.part.from
            let origin =
                switch row.part.origin {
                case .set: "set"
                case .added: "added"
                case .seen: "seen in the data"
                }
            table.add([
                (terminal.isTerminal ? row.local : row.full) ?? "always",
                from == .distantPast ? "" : InstantText.iso8601(from), row.part.zone, row.offset,
                origin,
            ])
        }
        return table.render(for: terminal)
    }

    /// Where the data indicates a zone other than the one that was set or added, so that the latter has no effect
    /// there; nil when there is no such entry. Names the first such entry, with the command that overrides it.
    package var note: String? {
        var wanted = parts.first?.zone ?? ""
        var overruled: [(part: ZonePlan.Part, wanted: String)] = []
        for part in parts {
            if part.origin != .seen { wanted = part.zone }
            if part.origin == .seen, part.zone != wanted { overruled.append((part, wanted)) }
        }
        guard let first = overruled.first else { return nil }
        let (text, zone) = (InstantText.iso8601(first.part.from), first.wanted)
        let whose = user == "me" ? "" : " --user \(user)"
        let others =
            switch overruled.count {
            case 1: ""
            case 2: ". One later entry seen in the data also counts instead of the zone that was set or added"
            default:
                ". \(overruled.count - 1) later entries seen in the data also count instead of the zone that was set or "
                    + "added"
            }
        return "from \(text) on, the data says \(first.part.zone), which counts there instead of \(zone). "
            + "'healthbus zone add \(text) \(zone)\(whose)' overrides it" + others
    }

    /// Local times are in the preceding zone, as `add` and `remove` read them; the offset is the new zone's from then
    /// on.
    private func rows() throws -> [(part: ZonePlan.Part, local: String?, full: String?, offset: String)] {
        try parts.enumerated().map { index, part in
            guard index > 0 else {
                return (part, nil, nil, try Self.offset(part.zone, at: parts.dropFirst().first?.from))
            }
            let before = try ZoneTimeline(zone: parts[index - 1].zone)
            let local = InstantText.iso8601(part.from + before.offset(at: part.from)).dropLast()
            let text = local.hasSuffix(":00") ? local.dropLast(3) : local
            return (part, String(text), before.localText(of: part.from), try Self.offset(part.zone, at: part.from))
        }
    }

    /// "+02:00"; for the first zone, the offset at its end, or today's offset.
    private static func offset(_ zone: String, at instant: Instant?) throws -> String {
        let at = instant ?? Instant(seconds: Int64(Date().timeIntervalSince1970))
        let minutes = Int(try ZoneTimeline(zone: zone).offset(at: at).components.seconds / 60)
        let size = abs(minutes)
        return (minutes < 0 ? "-" : "+") + String(format: "%02d:%02d", size / 60, size % 60)
    }
}
