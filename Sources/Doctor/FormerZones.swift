import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Protocol
import SQLite
import StageKit

/// The zone in which a person's days began before the observer's store was lost, and the zone in which they begin now.
///
/// Only the observer keeps timelines; its consumers have copies, which last until a new observer reports different
/// timelines. So if the store is missing when a stack starts, the zones are recorded in the state folder
/// (`StackLayer`), and reported until a person has set a zone or the former one is back.
package struct FormerZone: Sendable, Equatable {
    package var user: String
    package var former: String
    package var now: String

    package init(user: String, former: String, now: String) { (self.user, self.former, self.now) = (user, former, now) }

    private var whose: String { user == "me" ? "" : " --user \(user)" }

    /// A line for the person who starts the stack.
    package var notice: String {
        "zone   \(now) now: the observer's store is new; before the old one was lost, days last began in \(former). "
            + "'healthbus zone set \(former)\(whose)' sets that again, 'healthbus zone set \(now)\(whose)' keeps the new one"
    }

    var finding: Finding {
        Finding(
            .warning, user == "me" ? "zone" : "zone of \(user)",
            "is \(now) since the observer's store was lost; before that, days last began in \(former)",
            remedy: "'healthbus zone set \(former)\(whose)' sets that again, "
                + "'healthbus zone set \(now)\(whose)' keeps the new one")
    }
}

extension FormerZone {
    /// What a state folder has recorded, with the zones that its observer reports now.
    package static func all(of stack: Stack, _ reader: StackReader) throws -> [FormerZone] {
        let noted = try StackLayer(stack.state).formerZones()
        guard !noted.isEmpty else { return [] }
        let observer = try stack.instance(.observer)
        let beginning = try ZoneChoice(stack, option: nil, user: nil).beginning
        return try noted.sorted { $0.key < $1.key }.map { user, former in
            let page = try reader.pages(observer, .timeline(user: user)).first
            // A user who is no longer known starts over in the zone for new users.
            let zone = page?.timeline?.last?.zone ?? beginning.name
            return FormerZone(user: user, former: former, now: zone)
        }
    }
}

extension StateFolder {
    /// The zone in which each person's days begin, according to stopped consumers of the observer, the consolidator
    /// first. This is only advice: an unreadable file is skipped here, and reported separately.
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
