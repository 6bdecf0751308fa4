import BackgroundDelivery
import HealthModel

extension DeliveryPolicy {
    /// The observer's `delivery`, checked against its manifest's schema and with its defaults.
    package init(configuration: Value) {
        self.init()
        func frequency(_ value: Value) -> DeliveryFrequency? { value.string.flatMap(DeliveryFrequency.init(name:)) }
        func microseconds(_ member: String, _ standard: Instant) -> Instant {
            configuration[member].double.map { Instant($0 * 1e6) } ?? standard
        }
        floor = frequency(configuration["floor"]) ?? floor
        floors = (configuration["floors"].object ?? [:]).compactMapValues(frequency)
        acknowledgeWithin = microseconds("acknowledgeWithinSeconds", acknowledgeWithin)
        strikesUntilStopped = Int(configuration["strikesUntilStopped"].int ?? 0)
        wakesPerHour = Int(configuration["wakesPerHour"].int ?? 0)
        unlockReminderAfter = microseconds("unlockReminderSeconds", unlockReminderAfter)
    }
}
