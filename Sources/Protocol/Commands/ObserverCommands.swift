import HealthModel

/// To the observer: what a person says of zones. Giving it again changes nothing.
package struct ChangeZone: BusCommand, Equatable {
    package enum Action: String, Codable, Sendable {
        /// The zone for all time.
        case set
        /// A zone from a moment on; another one of that moment is replaced.
        case add
        /// Takes a moment's zone back.
        case remove
    }

    package static let name = "zone"

    @IfReadable package var user: String?
    package var action: Action
    package var from: Instant?
    package var zone: String?

    package init(user: String, action: Action, from: Instant? = nil, zone: String? = nil) {
        self.user = user
        self.action = action
        self.from = from
        self.zone = zone
    }
}

/// To the observer: by type whether it is observed, how often at most, whether it may be read. Saying it again changes nothing.
package struct SwitchTypes: BusCommand, Equatable {
    package static let name = "types"

    package struct Setting: Codable, Sendable, Equatable {
        @IfReadable package var on: Bool?
        @IfReadable package var denied: Bool?
        /// A frequency's name.
        @IfReadable package var frequency: String?

        package init(on: Bool? = nil, denied: Bool? = nil, frequency: String? = nil) {
            self.on = on
            self.denied = denied
            self.frequency = frequency
        }
    }

    package var set: [String: Setting]

    package init(set: [String: Setting]) { self.set = set }
}
