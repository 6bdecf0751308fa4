import HealthModel

/// Gives the observer a person's setting for zones. Repeating it changes nothing.
package struct ChangeZone: BusCommand, Equatable {
    package enum Action: String, Codable, Sendable {
        /// Sets one zone for all time.
        case set
        /// Adds a zone from a given moment on, replacing any other zone set for that moment.
        case add
        /// Removes the zone for a moment.
        case remove
    }

    package static let name = "zone"

    @IfReadable package var user: String?
    package var action: Action
    package var from: Instant?
    package var zone: String?

    package init(user: String, action: Action, from: Instant? = nil, zone: String? = nil) {
        (self.user, self.action, self.from, self.zone) = (user, action, from, zone)
    }
}

/// Says to the observer, for each type: whether it is observed, its highest frequency, and whether it may be read.
/// Repeating it changes nothing.
package struct SwitchTypes: BusCommand, Equatable {
    package static let name = "types"
    /// In place of a frequency's name: the one that the app asks for.
    package static let appsFrequency = "default"

    package struct Setting: Codable, Sendable, Equatable {
        @IfReadable package var on: Bool? = nil
        @IfReadable package var denied: Bool? = nil
        /// The name of a frequency, or `appsFrequency`.
        @IfReadable package var frequency: String? = nil

        package init() {}
    }

    package var set: [String: Setting]

    package init(set: [String: Setting]) { self.set = set }
}
