import Client
import Configuration
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

/// `healthbus events list` and `healthbus types own`: a person's own types by name, and the newest events that they
/// entered, newest first, whether the stack is running or not.
package struct EntriesReport {
    package let user: String
    package let types: [OwnTypeRow]
    package let events: [OwnEventRow]

    /// - Parameter event: only the events with this id, or whose ids begin with it.
    package init(_ stack: Stack, _ reader: StackReader, user: String, event: String? = nil) throws {
        let pages = try reader.pages(
            try stack.instance(.observer), .entries(user: user, event: event))
        self.init(user: user, types: pages.flatMap(\.ownTypes), events: pages.flatMap(\.events))
    }

    package init(user: String, types: [OwnTypeRow], events: [OwnEventRow]) {
        (self.user, self.types, self.events) = (user, types, events)
    }

    /// `{user, events: [{id, version, type, start, end, value, unit, note, sample}]}`.
    package var eventsValue: Value { ["user": .string(user), "events": .array(events.map(\.json))] }

    /// `{user, types: [{name, kind, unit, aggregation, version}]}`.
    package var typesValue: Value { ["user": .string(user), "types": .array(types.map(\.value))] }

    /// - Parameter zones: times are shown on this clock, or in UTC if there is none.
    package func eventTable(for terminal: Terminal, zones: ZoneTimeline?) -> String {
        var table = Table([
            .init("Id"), .init("Type"), .init("When"), .number("Value"), .init("Unit"), .init("Note", givesWay: 1),
            .number("Version", givesWay: 2),
        ])
        for event in events {
            table.add([
                event.id, TypeName.short(event.type),
                terminal.moment(event.start, on: zones), event.value.map { Self.number($0, of: event.type) } ?? "",
                event.unit,
                event.note ?? "", "\(event.version)",
            ])
        }
        return table.render(for: terminal)
    }

    /// The number as people see it, without the digits that the conversion of units leaves and that nobody entered.
    private static func number(_ value: Double, of type: String) -> String {
        ShownNumber.exact(HealthType.named(type).isFraction ? ShownFraction.percent(value) : value)
    }

    package func typeTable(for terminal: Terminal) -> String {
        var table = Table([
            .init("Type"), .init("Kind"), .init("Unit"), .init("Day shows"), .number("Version", givesWay: 1),
        ])
        for type in types { table.add([type.name, type.kind, type.unit, type.aggregation, "\(type.version)"]) }
        return table.render(for: terminal)
    }

    /// The event with this id, or the only event whose id begins with it.
    /// - Throws: `Failure` (usage) if there is none, or if there are several.
    package func event(_ id: String) throws(Failure) -> OwnEventRow {
        if let event = events.first(where: { $0.id == id }) { return event }
        let found = events.filter { $0.id.hasPrefix(id) }
        guard let event = found.first, !id.isEmpty else {
            throw .usage("there is no event \"\(id)\"", hint: "'healthbus events list' shows the newest")
        }
        guard found.count == 1 else {
            throw .usage("the ids of \(found.count) events begin with \"\(id)\"", hint: "give more of the id")
        }
        return event
    }
}
