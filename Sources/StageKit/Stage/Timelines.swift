import Changelog
import Foundation
import HealthModel
import Protocol
import SQLite

/// The users' zone timelines, as last reported by the observer's changelog.
package struct Timelines {
    private var byUser: [String: ZoneTimeline] = [:]

    package init() {}

    private static let table = ValueTable("zones", key: "user", value: "timeline")

    package static func createTables(in database: Database) throws { try table.create(in: database) }

    package mutating func open(_ turn: Turn) throws { self = try Timelines(turn.database) }

    /// Loads the timelines stored in a file.
    package init(_ database: Database) throws {
        try Self.table.forEach(in: database) { byUser[$0] = try ZoneTimeline(wireValue: $1) }
    }

    package subscript(user: String) -> ZoneTimeline? { byUser[user] }
    package var users: [String] { byUser.keys.sorted() }

    /// A newly adopted timeline, and the one that it replaced.
    package struct Change {
        package var user: String
        /// nil if there was none.
        package var old: ZoneTimeline?
        package var new: ZoneTimeline
    }

    /// Adopts the timelines on a page, and returns those that changed.
    /// - Parameter page: the timelines by user, in the form of `ZoneTimeline.wireValue`.
    /// - Throws: `StageError.unreadablePage`, `ZoneError`.
    package mutating func learn(_ page: [String: Value], from producer: String, _ turn: Turn) throws -> [Change] {
        var changes: [Change] = []
        for (user, entries) in page.sorted(by: { $0.key < $1.key }) {
            guard let new = try ZoneTimeline(wireValue: entries) else {
                throw StageError.unreadablePage(producer: producer)
            }
            let old = byUser[user]
            guard old != new else { continue }
            byUser[user] = new
            try Self.table.set(user, to: new.wireValue, turn)
            changes.append(Change(user: user, old: old, new: new))
        }
        return changes
    }
}
