import HealthModel

/// What the stack knows about the phone: whether its app is running, whether it is locked, how it is powered. One per
/// stack.
///
/// It is set by a simulator, a companion or `healthbus device`; if none of them sets it, the app counts as active and
/// nothing is held back.
package struct DeviceState: Codable, Sendable, Equatable {
    package enum AppState: String, Codable, Sendable, CaseIterable {
        /// On the screen: everything is delivered at once.
        case active
        /// Running in the background or suspended: it gets time only from fires and tasks.
        case background
        /// Terminated by the system: a fire or a task starts it again.
        case terminated
        /// Swiped away by its user, who alone can start it again.
        case forceQuit
    }

    package var app = AppState.active
    /// The health data can't be read, and no observer fires.
    package var isLocked = false
    package var isCharging = true
    /// 0 to 1.
    package var batteryLevel = 1.0
    package var isLowPowerMode = false
    /// Sleep Focus.
    package var isSleepMode = false
    /// The system gives no background time at present, for reasons of its own (load, battery, a rarely used app).
    package var isDeferring = false
    /// nil if unknown, in which case the machine's own path counts.
    @OrNull package var network: NetworkPath?

    package init() { network = nil }

    private enum CodingKeys: String, CodingKey {
        case app, network
        case isLocked = "locked"
        case isCharging = "charging"
        case batteryLevel = "battery"
        case isLowPowerMode = "lowPower"
        case isSleepMode = "sleepMode"
        case isDeferring = "deferring"
    }
}

/// Whether there is network access, and over what. A path doesn't prove that there is an Internet connection: only an
/// answer does.
package struct NetworkPath: Codable, Sendable, Equatable {
    package enum Interface: String, Codable, Sendable, CaseIterable {
        case wifi, cellular, wired, loopback, other
    }

    package var isSatisfied: Bool
    /// nil if there is no path.
    @OrNull package var interface: Interface?

    private enum CodingKeys: String, CodingKey {
        case interface
        case isSatisfied = "satisfied"
    }

    package init(isSatisfied: Bool, interface: Interface?) {
        self.isSatisfied = isSatisfied
        self.interface = interface
    }
}

extension DeviceState {
    /// Returns the state updated with the members of a message; nil when one of them is invalid.
    package func updated(from value: Value) -> DeviceState? {
        let changes = value.object ?? [:]
        let members = Value(self).object ?? [:]
        guard changes.keys.allSatisfy({ members[$0] != nil }),
            let state = Value.object(members.merging(changes) { $1 }).read(DeviceState.self),
            (0...1).contains(state.batteryLevel)
        else { return nil }
        return state
    }
}
