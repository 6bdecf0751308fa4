import BackgroundDelivery
import Configuration
import HealthModel

/// Whether changes wait until a phone's system delivers them, which no command can hurry, or move on as soon as they
/// arrive, as on a server by default. Pure.
package enum PhoneRule {
    /// - Parameter device: what is known about the phone; the usual state if nothing is known.
    package static func isPhone(_ stack: StackConfiguration, _ device: DeviceState?) -> Bool {
        if let device, device != DeviceState() { return true }
        let observer = stack.only(.observer)?.configuration["delivery"] ?? .null
        let debouncer = stack.only(.debouncer)?.configuration ?? .null
        let floor = observer["floor"].string ?? "immediate"
        return floor != "immediate" || observer["floors"].object?.isEmpty == false
            || (observer["wakesPerHour"].int ?? 0) > 0 || debouncer["frequencies"].object?.isEmpty == false
    }
}
