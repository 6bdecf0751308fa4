import Client
import Configuration
import Foundation
import HealthModel
import Protocol

/// The zone in which days begin when a stack starts: the one that it was first started with. Naming a different one
/// later doesn't change it, since every day would be cut differently; a person changes it with `zone set`.
package struct ZoneChoice: Sendable, Equatable {
    /// A zone, and where it was named.
    package struct Beginning: Sendable, Equatable {
        package var name: String
        /// Where the zone was named, for people: "--zone Europe/Berlin", "HEALTHBUS_ZONE=Europe/Berlin".
        package var by: String
    }

    /// The zone that the state's timeline begins with; nil if that user has none yet.
    package let holds: String?
    /// The zone named on the command line, otherwise in the environment, otherwise in the configuration, as the
    /// observer reads it.
    package let asked: Beginning?
    package let user: String

    package init(holds: String?, asked: Beginning?, user: String) {
        (self.holds, self.asked, self.user) = (holds, asked, user)
    }

    /// - Parameters:
    ///   - option: the zone named on the command line.
    ///   - user: nil for the one named in the configuration.
    package init(
        _ stack: Stack, option: String?, user: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let observer = try stack.instance(.observer)
        let user = user ?? observer.configuration["user"].string ?? "me"
        let page = try stack.reader(foundSilent: { _ in }).pages(
            observer, .timeline(user: user)
        ).first
        self.init(
            holds: page?.timeline?.first?.zone,
            asked: Self.asked(option, environment, observer.configuration, stack.configuration.file), user: user)
    }

    static func asked(
        _ option: String?, _ environment: [String: String], _ configuration: Value, _ file: String
    ) -> Beginning? {
        if let option { return Beginning(name: option, by: "--zone \(option)") }
        if let zone = environment["HEALTHBUS_ZONE"], !zone.isEmpty {
            return Beginning(name: zone, by: "HEALTHBUS_ZONE=\(zone)")
        }
        return configuration["zone"].string.map { Beginning(name: $0, by: "the observer's 'zone' \($0) in \(file)") }
    }

    /// The zone in which a new user's days begin.
    package var beginning: Beginning {
        asked ?? Beginning(name: TimeZone.current.identifier, by: "this machine's")
    }

    /// What to say to a person who asked for a zone other than the one in force; nil when there is nothing to say.
    package var notice: String? {
        guard let holds, let asked, holds != asked.name else { return nil }
        let whose = user == "me" ? "" : " --user \(user)"
        return "zone   \(holds), where this state's days begin: \(asked.by) isn't used. "
            + "'healthbus zone set \(asked.name)\(whose)' changes it, and the days that shifts are computed again"
    }
}
