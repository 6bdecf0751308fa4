import Configuration
import DeliveryKit
import HealthModel

/// What isn't delivered to a destination at present; anything earlier was delivered. Pure.
package struct LeftOut: Sendable {
    /// Types that are switched off or denied, and locations if the destination has no right to them.
    private let off: Set<String>
    /// What is delivered to the destination.
    private let choice: DeliveryChoice
    /// Anything from before this isn't delivered.
    private let since: DeliverSince?
    private let configuration: StackConfiguration

    /// - Parameter off: types that are switched off or denied.
    /// - Throws: `ConfigurationError` for an option that can't be read.
    package init(
        of destination: StackConfiguration.Instance, in configuration: StackConfiguration, off: Set<String>
    ) throws(ConfigurationError) {
        let isLocator = destination.manifest.rights.entitlements.contains(.location)
        self.off = off.union(isLocator ? [] : [HealthType.locationIdentifier])
        choice = try DeliveryChoice(of: destination, in: configuration)
        since = try DeliveryStage.deliverSince(of: destination, in: configuration)
        self.configuration = configuration
    }

    package func takes(type: String) -> Bool {
        !off.contains(type) && choice.takes(type: type, of: UploadMetric(family: configuration.family(of: type)))
    }

    package func takes(sampleThatEnds end: Instant) -> Bool { since.map { end >= $0.moment } ?? true }

    /// - Parameters:
    ///   - metric: that of days, nights or workouts.
    ///   - day: days since 1970; nil for a document that belongs to none.
    package func takes(documentsOf metric: UploadMetric, day: Int?) -> Bool {
        choice.takes(documentsOf: metric) && !(since?.isAfter(day: day) ?? false)
    }
}
