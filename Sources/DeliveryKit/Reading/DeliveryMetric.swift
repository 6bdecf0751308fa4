/// The path that a type's samples are delivered to: a family named by some handler's manifest, or one of the two that
/// all stacks have.
package struct DeliveryMetric: Sendable, Hashable {
    package let rawValue: String

    package static let other = DeliveryMetric(family: "other")
    package static let daily = DeliveryMetric(family: "daily")
    /// Families that have events as well as samples.
    package static let sleep = DeliveryMetric(family: "sleep")
    package static let workouts = DeliveryMetric(family: "workouts")

    package init(family: String) { rawValue = family }

    /// "/api/v1/sync/heart-rate"
    package var path: String { "/api/v1/sync/" + rawValue }
}
