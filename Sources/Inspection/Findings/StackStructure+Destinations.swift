import Configuration
import DeliveryKit
import HealthModel

/// What destinations are to get, as their options say.
extension StackStructure {
    /// What would keep a destination from starting, and types that this release doesn't know: misspelt, or newer.
    var choices: [Finding] {
        stack.instances.filter { $0.manifest.destination != nil }.flatMap { instance -> [Finding] in
            let types = (instance.configuration["types"].array ?? []).compactMap(\.string)
            // For files only types can be chosen.
            let isFiles = instance.manifest.destination?.keeps == .files
            let unknown = types.enumerated().filter {
                (isFiles || $1.hasPrefix("HK")) && HealthType.known($1) == nil
            }.map { index, type in
                Finding(
                    .warning, stack.file, key: "instances.\(instance.name).configuration.types[\(index)]",
                    "isn't a type this release knows, so most likely nothing is delivered for it",
                    remedy: HealthType.nearest(to: type).map { "did you mean \($0)?" }
                        ?? "write HealthKit's identifier, as in HKQuantityTypeIdentifierStepCount")
            }
            guard !isFiles else { return unknown }
            var mistakes = DeliveryChoice.mistakes(of: instance, in: stack)
            do throws(ConfigurationError) { _ = try DeliveryStage.deliverSince(of: instance, in: stack) } catch {
                mistakes.append(error)
            }
            return mistakes.map { Finding($0) } + unknown
        }
    }
}
