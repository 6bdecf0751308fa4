import Client
import Configuration
import Foundation
import HealthModel
import Protocol
import SQLite
import StageKit

/// Where a person's days began before the observer's store was lost, and where they begin now.
///
/// The observer alone keeps timelines; whoever follows it has copies, until a new observer tells them others. So a start that finds the store gone notes them
/// in the state folder (`StackLayer`), and they are told of until a person has set a zone or it is the same again.
package struct FormerZone: Sendable, Equatable {
    package var user: String
    package var former: String
    package var now: String

    package init(user: String, former: String, now: String) {
        (self.user, self.former, self.now) = (user, former, now)
    }

    private var whose: String { user == "me" ? "" : " --user \(user)" }

    /// A line for whoever starts the stack.
    package var notice: String {
        "zone   \(now) now: the observer's store is a new one, and before it was lost days last began in \(former). "
            + "'healthbus zone set \(former)\(whose)' sets that again, 'healthbus zone set \(now)\(whose)' keeps the new one"
    }

    var finding: Finding {
        Finding(
            .warning, user == "me" ? "zone" : "zone of \(user)",
            "is \(now) since the observer's store was lost; before, days last began in \(former)",
            remedy: "'healthbus zone set \(former)\(whose)' sets that again, "
                + "'healthbus zone set \(now)\(whose)' keeps the new one")
    }
}

extension FormerZone {
    /// What a state folder notes, beside what its observer says.
    package static func all(of stack: Stack, _ reader: StackReader) throws -> [FormerZone] {
        let noted = try StackLayer(stack.state).formerZones()
        guard !noted.isEmpty else { return [] }
        let observer = try stack.instance(.observer)
        let beginning = try ZoneChoice(stack, option: nil, user: nil).beginning
        return try noted.sorted { $0.key < $1.key }.map { user, former in
            let page = try reader.pages(observer, .timeline(user: user), as: TimelinePage.self).first
            // Whoever isn't known any more begins anew in the zone that a new user has.
            let zone = page?.timeline?.last?.zone ?? beginning.name
            return FormerZone(user: user, former: former, now: zone)
        }
    }
}

extension StateFolder {
    /// Where each person's days begin, as consumers of the observer that don't run have it; the consolidator's word first. It is help with an advice: a file
    /// that can't be read is passed over here, and told of by itself.
    package func keptZones(of stack: StackConfiguration) -> [String: String] {
        let followers = [stack.only(.consolidator)].compactMap { $0 } + stack.handlers
        for follower in followers where FileManager.default.fileExists(atPath: database(follower.name)) {
            guard let lock = try? InstanceLock.take(folder: instance(follower.name)) else { continue }
            defer { withExtendedLifetime(lock) {} }
            guard let zones = try? Self.zones(in: database(follower.name)), !zones.isEmpty else { continue }
            return zones
        }
        return [:]
    }

    private static func zones(in path: String) throws -> [String: String] {
        let timelines = try Timelines(Database(path: path, mode: .readOnly))
        var zones: [String: String] = [:]
        for user in timelines.users { zones[user] = timelines[user]?.entries.last?.zone }
        return zones
    }
}
