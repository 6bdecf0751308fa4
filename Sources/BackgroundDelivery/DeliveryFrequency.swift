import HealthModel

/// The maximum frequency at which a type's changes may wake their consumer in the background; never a promise.
///
/// The raw values are those of `HKUpdateFrequency`.
package enum DeliveryFrequency: Int, Sendable, CaseIterable, Comparable {
    case immediate = 1
    case hourly = 2
    case daily = 3
    case weekly = 4

    /// As written in configurations and messages.
    package var name: String { "\(self)" }

    package init?(name: String) {
        guard let frequency = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = frequency
    }

    /// The time between two wakes; zero if there is no limit.
    package var period: Duration {
        switch self {
        case .immediate: .zero
        case .hourly: .seconds(3600)
        case .daily: .seconds(24 * 3600)
        case .weekly: .seconds(7 * 24 * 3600)
        }
    }

    /// Returns the slower of the requested frequency and the type's floor: a request for a faster one is accepted, but
    /// clamped.
    package func clamped(to floor: DeliveryFrequency) -> DeliveryFrequency { max(self, floor) }

    package static func < (a: DeliveryFrequency, b: DeliveryFrequency) -> Bool { a.rawValue < b.rawValue }
}
