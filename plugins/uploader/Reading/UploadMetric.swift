/// The path that a type's samples are delivered under.
package enum UploadMetric: String, Sendable, CaseIterable {
    case steps
    case heartRate = "heart-rate"
    case sleep
    case energy
    case workouts
    case body
    case other
    case daily

    /// "/api/v1/sync/heart-rate"
    package var path: String { "/api/v1/sync/" + rawValue }

    /// The metric of a family of types, by the name of the plugin that declares them; any other family's samples go under `other`.
    package init(family: String) { self = Self(rawValue: family) ?? .other }
}
