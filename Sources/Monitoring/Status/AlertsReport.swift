import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Protocol
import Terminal

/// `healthbus alerts`: what is currently raised, since when, and what to do.
package struct AlertsReport {
    private struct Entry {
        var from: String
        var alert: RaisedAlert
        /// The person whose data it concerns; empty if it concerns the stack.
        var user = ""
    }

    private let entries: [Entry]
    private let now: Date

    /// - Parameter now: the current time, for ages such as "5 min ago".
    package init(_ stack: Stack, now: Date) throws { try self.init(stack, stack.reader(), now: now) }

    package init(_ stack: Stack, _ reader: StackReader, now: Date) throws {
        self.now = now
        let advice = stack.advice
        entries = try stack.configuration.instances
            .flatMap { instance in
                try reader.personalAlerts(of: instance).map {
                    Entry(from: instance.name, alert: advice.addressed($0.alert), user: $0.user)
                }
            }
            .sorted { ($0.alert.since, $0.from) < ($1.alert.since, $1.from) }
    }

    /// - Parameter raised: the alerts, each with the instance that raised it and the person whose data it concerns, in
    ///   the order in which to show them.
    package init(raised: [(from: String, alert: RaisedAlert, user: String)], now: Date) {
        self.now = now
        entries = raised.map { Entry(from: $0.from, alert: $0.alert, user: $0.user) }
    }

    /// The alert's text, with the person if several have alerts.
    private func text(_ entry: Entry) -> String {
        let isAmongOthers = Set(entries.map(\.user)).subtracting([""]).count > 1
        return isAmongOthers && !entry.user.isEmpty ? "\(entry.user): \(entry.alert.text)" : entry.alert.text
    }

    package var isEmpty: Bool { entries.isEmpty }
    /// How many of them say that something is wrong.
    package var findings: Int { entries.count { !$0.alert.isNews } }

    /// `[{from, user, kind, news, subject, since, text, remedy}]`, the oldest first.
    package var json: String {
        Value.array(
            entries.map { entry in
                var members = Value(entry.alert).object ?? [:]
                members["from"] = .string(entry.from)
                members["user"] = Value(entry.user.isEmpty ? nil : entry.user)
                members["news"] = .bool(entry.alert.isNews)
                members["since"] = .string(InstantText.iso8601(entry.alert.since))
                return .object(members)
            }
        ).json(pretty: true)
    }

    /// On a screen, each alert is followed by its remedy on a line of its own, which the screen wraps, so that a
    /// command can be copied whole. Elsewhere a table.
    package func text(for terminal: Terminal) -> String {
        guard terminal.isTerminal else { return table(for: terminal) }
        return entries.map { entry in
            let since = HumanFormat.relative(since(entry), now: now)
            return "\(terminal.styled(since, .dim))  \(entry.from): \(Table.inOneLine(text(entry)))\n"
                + "  do: \(Table.inOneLine(entry.alert.remedy))\n"
        }.joined()
    }

    private func table(for terminal: Terminal) -> String {
        var table = Table([.init("Since"), .init("From"), .init("What"), .init("What to do")])
        for entry in entries {
            table.add([
                HumanFormat.relative(since(entry), now: now, for: terminal), entry.from, text(entry),
                entry.alert.remedy,
            ])
        }
        return table.render(for: terminal)
    }

    private func since(_ entry: Entry) -> Date { Date(timeIntervalSince1970: entry.alert.since.secondsSince1970) }
}
