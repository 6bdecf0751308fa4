import Configuration
import Foundation
import HealthModel
import Logging
import MessageBus
import Terminal

/// `healthbus keys list`: who the hub lets in, with which keys, and what is missing.
package struct KeyReport: Sendable {
    package struct Row: Sendable, Equatable {
        package var name: String
        package var role: String
        /// The current public key; nil when there is none.
        package var publicKey: String?
        /// When the previous key stops being valid.
        package var oldUntil: Instant?
        /// What keeps its holder from connecting; nil if nothing does.
        package var problem: String?
    }

    package let folder: String
    package let rows: [Row]

    package init(_ stack: Stack, now: Instant) throws {
        let keys = stack.configuration.keyFolder(stack.state)
        folder = keys.path
        let wanted = stack.configuration.keyRoles
        let listed = try keys.allowedNames()
        let names = wanted.map(\.name) + listed.filter { name in !wanted.contains { $0.name == name } }
        var rows = [Self.hub(keys)]
        for name in names {
            let expected = wanted.first { $0.name == name }?.role
            guard let entry = try keys.allowedKey(name) else {
                rows.append(
                    Row(
                        name: name, role: expected.map { "\($0)" } ?? "",
                        problem: "has no key: 'healthbus keys init' makes one")
                )
                continue
            }
            let valid = entry.valid(at: now)
            rows.append(
                Row(
                    name: name, role: "\(entry.role)", publicKey: entry.keys.first?.publicKey,
                    oldUntil: valid.compactMap(\.until).max(), problem: Self.problem(entry, stack.configuration)))
        }
        self.rows = rows
    }

    private static func hub(_ keys: KeyFolder) -> Row {
        do {
            return Row(name: keys.hub, role: "hub", publicKey: try keys.pair(of: keys.hub).publicKey)
        } catch {
            return Row(name: keys.hub, role: "hub", problem: (error as? Failure)?.message ?? "\(error)")
        }
    }

    private static func problem(_ entry: AllowedKey, _ stack: StackConfiguration) -> String? {
        guard case .instance(let name) = entry.role, stack.instance(name) == nil else { return nil }
        return "the stack has no '\(name)': it may do nothing"
    }

    package func table(for terminal: Terminal) -> String {
        var table = Table([
            .init("name"), .init("role"), .init("public key", givesWay: 1), .init("note"),
        ])
        for row in rows {
            let old = row.oldUntil.map { "the previous one is valid until \(InstantText.iso8601($0))" }
            table.add([row.name, row.role, row.publicKey ?? "-", row.problem ?? old ?? ""])
        }
        return table.render(for: terminal)
    }

    package var value: Value {
        [
            "folder": .string(folder),
            "keys": .array(rows.map(\.value)),
        ]
    }
}

extension KeyReport.Row {
    private var oldHolds: String? { oldUntil.map { InstantText.iso8601($0) } }

    package var value: Value {
        [
            "name": .string(name), "role": .string(role), "public": Value(publicKey), "oldUntil": Value(oldHolds),
            "problem": Value(problem),
        ]
    }

    package func text(folder: String) -> String {
        var lines = ["name        \(name)", "role        \(role)", "public key  \(publicKey ?? "-")"]
        lines.append("files       \(folder)/\(name)")
        if let oldHolds { lines.append("the previous one is valid until \(oldHolds)") }
        if let problem { lines.append(problem) }
        return lines.joined(separator: "\n") + "\n"
    }
}
