/// What the stack's own machine says about power and load. In a stack without a phone it decides whether tasks that
/// need power, or an idle machine, may begin.
package struct MachineState: Sendable, Equatable {
    /// nil without a battery.
    package var isCharging: Bool?
    /// The lowest of its batteries, from 0 to 1; nil without one.
    package var batteryLevel: Double?
    /// Of the last minute, by core; nil if unknown.
    package var load: Double?

    package init(isCharging: Bool? = nil, batteryLevel: Double? = nil, load: Double? = nil) {
        self.isCharging = isCharging
        self.batteryLevel = batteryLevel
        self.load = load
    }

    /// As phones warn of it.
    package static let lowBattery = 0.2
    /// More is waiting than the cores can do.
    package static let busyLoad = 1.0

    package var isLowOnBattery: Bool { isCharging == false && (batteryLevel ?? 1) <= Self.lowBattery }
    package var isBusy: Bool { (load ?? 0) > Self.busyLoad }

    /// Whether it decides differently.
    package func differs(from other: MachineState) -> Bool {
        isCharging != other.isCharging || isLowOnBattery != other.isLowOnBattery || isBusy != other.isBusy
    }
}
