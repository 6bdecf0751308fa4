import BackgroundDelivery
import HealthModel

extension SystemLimits {
    /// The observer's `delivery`, checked against its manifest's schema and with its defaults.
    package init(configuration: Value) {
        self.init()
        func frequency(_ value: Value) -> DeliveryFrequency? { value.string.flatMap(DeliveryFrequency.init(name:)) }
        func seconds(_ member: String, _ standard: Duration) -> Duration {
            configuration[member].double.map { .seconds($0) } ?? standard
        }
        floor = frequency(configuration["floor"]) ?? floor
        floors = (configuration["floors"].object ?? [:]).compactMapValues(frequency)
        acknowledgeWithin = seconds("acknowledgeWithinSeconds", acknowledgeWithin)
        strikesUntilStopped = Int(configuration["strikesUntilStopped"].int ?? 0)
        wakesPerHour = Int(configuration["wakesPerHour"].int ?? 0)
        unlockReminderAfter = seconds("unlockReminderSeconds", unlockReminderAfter)
    }
}
