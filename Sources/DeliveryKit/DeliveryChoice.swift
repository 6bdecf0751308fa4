import Configuration
import HealthModel
import Protocol

/// Which data is delivered to a destination: families, and HealthKit types. Pure.
package struct DeliveryChoice: Sendable, Equatable {
    /// nil accepts everything.
    private let names: Set<String>?

    package static let all = DeliveryChoice([])

    /// - Parameter names: the selected families and types; empty for everything.
    package init(_ names: some Sequence<String>) {
        let names = Set(names)
        self.names = names.isEmpty ? nil : names
    }

    /// - Parameter family: the type's family.
    package func takes(type: String, of family: DeliveryMetric) -> Bool {
        guard let names else { return true }
        return names.contains(family.rawValue) || names.contains(type)
    }

    /// Whether days, nights or workouts are delivered, which the name of their family decides.
    package func takes(documentsOf family: DeliveryMetric) -> Bool { names?.contains(family.rawValue) ?? true }

    /// The choice in the form that is stored: the same string for the same choice.
    var text: String { names.map { $0.sorted().joined(separator: " ") } ?? "" }

    /// Reads an instance's `types`.
    /// - Throws: `ConfigurationError` for a name that is neither a family in the stack nor a type's identifier.
    package init(
        of instance: StackConfiguration.Instance, in stack: StackConfiguration
    ) throws(ConfigurationError) {
        if let mistake = Self.mistakes(of: instance, in: stack).first { throw mistake }
        self.init(Self.names(of: instance))
    }

    private static func names(of instance: StackConfiguration.Instance) -> [String] {
        (instance.configuration["types"].array ?? []).compactMap(\.string)
    }

    /// Each name in an instance's `types` that is neither a family in the stack nor a type's identifier.
    package static func mistakes(
        of instance: StackConfiguration.Instance, in stack: StackConfiguration
    ) -> [ConfigurationError] {
        let families = Set(stack.handlers.map(\.family)).union([
            StackConfiguration.otherFamily, DeliveryMetric.daily.rawValue, DeliveryMetric.sleep.rawValue,
            DeliveryMetric.workouts.rawValue,
        ])
        return names(of: instance).enumerated().filter { !families.contains($1) && !$1.hasPrefix("HK") }.map {
            ConfigurationError(
                file: stack.file, key: "instances.\(instance.name).configuration.types[\($0.offset)]",
                reason: "is neither a family (\(families.sorted().joined(separator: ", "))) nor a type, as "
                    + "HKQuantityTypeIdentifierStepCount")
        }
    }
}
