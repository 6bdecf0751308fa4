/// The power and load that the stack's own machine reports. In a stack without a phone this decides whether tasks that
/// need power, or an idle machine, may begin.
package struct MachineState: Sendable, Equatable {
    /// nil if there is no battery.
    package var isCharging: Bool?
    /// The charge of the machine's lowest battery, from 0 to 1; nil if it has none.
    package var batteryLevel: Double?
    /// The load over the last minute, per core; nil if unknown.
    package var load: Double?

    package init(isCharging: Bool? = nil, batteryLevel: Double? = nil, load: Double? = nil) {
        (self.isCharging, self.batteryLevel, self.load) = (isCharging, batteryLevel, load)
    }

    /// The battery level at which phones warn of a low battery.
    package static let lowBattery = 0.2
    /// Above this, more work is waiting than the cores can handle.
    package static let busyLoad = 1.0

    package var isLowOnBattery: Bool { isCharging == false && (batteryLevel ?? 1) <= Self.lowBattery }
    package var isBusy: Bool { (load ?? 0) > Self.busyLoad }

    /// Whether the two states differ in a way that could change a decision.
    package func differs(from other: MachineState) -> Bool {
        isCharging != other.isCharging || isLowOnBattery != other.isLowOnBattery || isBusy != other.isBusy
    }
}
