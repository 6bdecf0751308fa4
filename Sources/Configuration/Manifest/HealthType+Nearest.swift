import HealthModel
import Logging

extension HealthType {
    /// The identifier that somebody who wrote another name may have meant: people often leave out HealthKit's prefix, so
    /// "StepCount" and "stepcont" mean HKQuantityTypeIdentifierStepCount. nil when nothing is close.
    package static func nearest(to name: String) -> String? {
        let identifiers = allKnown.keys.sorted()
        if name.hasPrefix("HK") { return Nearest.to(name, among: identifiers) }
        let short = identifiers.map(withoutPrefix)
        if let same = short.firstIndex(where: { $0.lowercased() == name.lowercased() }) { return identifiers[same] }
        if let near = Nearest.to(name, among: short), let index = short.firstIndex(of: near) {
            return identifiers[index]
        }
        return nil
    }

    /// An identifier without HealthKit's prefix: "StepCount".
    package static func withoutPrefix(_ identifier: String) -> String {
        let prefixes = ["HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier", "HKCorrelationTypeIdentifier"]
        return String(identifier.dropFirst(prefixes.first { identifier.hasPrefix($0) }?.count ?? 0))
    }
}
