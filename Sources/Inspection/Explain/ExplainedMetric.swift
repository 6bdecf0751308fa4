import Console
import HealthModel

/// A figure that can be explained: how people name it, from which samples it comes, and where its day's value stands.
package struct ExplainedMetric: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// Overlapping sources merged and added up.
        case total
        case average
        /// The day's last sample.
        case latest
        case sleep
        case standHours
        /// A category's samples, counted.
        case count
        /// The day's list of workouts.
        case workouts
    }

    /// The short name, or the type's identifier.
    package let name: String
    /// HealthKit's identifier.
    package let type: String
    package let kind: Kind
    /// Where a day's summary has the figure.
    package let path: [String]
    package let unit: String

    /// Figures with names of their own: the short one, members of `days --json`, and the identifier.
    private static let named: [(name: String, members: [String], type: String, kind: Kind, path: [String])] = [
        ("steps", [], "HKQuantityTypeIdentifierStepCount", .total, ["steps"]),
        ("distance", [], "HKQuantityTypeIdentifierDistanceWalkingRunning", .total, ["distanceMeters"]),
        ("flights", [], "HKQuantityTypeIdentifierFlightsClimbed", .total, ["flightsClimbed"]),
        ("active-energy", [], "HKQuantityTypeIdentifierActiveEnergyBurned", .total, ["activeEnergyKilocalories"]),
        ("basal-energy", [], "HKQuantityTypeIdentifierBasalEnergyBurned", .total, ["basalEnergyKilocalories"]),
        ("exercise", [], "HKQuantityTypeIdentifierAppleExerciseTime", .total, ["exerciseMinutes"]),
        ("move", [], "HKQuantityTypeIdentifierAppleMoveTime", .total, ["moveMinutes"]),
        ("stand-time", [], "HKQuantityTypeIdentifierAppleStandTime", .total, ["standMinutes"]),
        ("stand", [], "HKCategoryTypeIdentifierAppleStandHour", .standHours, ["standHours"]),
        ("heart-rate", [], "HKQuantityTypeIdentifierHeartRate", .average, ["heartRate", "average"]),
        (
            "resting-heart-rate", ["restingHeartRate"], "HKQuantityTypeIdentifierRestingHeartRate", .latest,
            ["heartRate", "resting"]
        ),
        ("hrv", [], "HKQuantityTypeIdentifierHeartRateVariabilitySDNN", .average, ["hrvSDNNMilliseconds"]),
        ("body-mass", [], "HKQuantityTypeIdentifierBodyMass", .latest, ["bodyMassKilograms"]),
        ("height", [], "HKQuantityTypeIdentifierHeight", .latest, ["heightMeters"]),
        ("body-mass-index", [], "HKQuantityTypeIdentifierBodyMassIndex", .latest, ["bodyMassIndex"]),
        ("body-fat", [], "HKQuantityTypeIdentifierBodyFatPercentage", .latest, ["bodyFatFraction"]),
        ("sleep", ["naps"], "HKCategoryTypeIdentifierSleepAnalysis", .sleep, ["sleep", "asleepMinutes"]),
        ("workouts", [], HealthType.workoutIdentifier, .workouts, ["workouts"]),
    ]

    package static var names: [String] { named.map(\.name) }

    /// - Parameters:
    ///   - text: a short name, a member of `days --json`, or a type's identifier with or without its prefix, in any case.
    ///   - held: the types that the store holds, known ones or not.
    /// - Throws: `Failure` (usage) that names the nearest.
    package init(_ text: String, held: Set<String> = []) throws(Failure) {
        let word = text.lowercased()
        let named = Self.named.first { entry in
            ([entry.name, entry.path[0], entry.type, Self.bare(entry.type)] + entry.members)
                .contains { $0.lowercased() == word }
        }
        if let named {
            (name, type, kind, path) = (named.name, named.type, named.kind, named.path)
            unit =
                switch named.kind {
                case .sleep: "min"
                case .standHours: "hours"
                case .workouts: "counted"
                default: HealthType.named(named.type).unit
                }
            return
        }
        let types = held.union(HealthType.allKnown.keys)
        guard
            let identifier = types.sorted().first(where: {
                $0.lowercased() == word || Self.bare($0).lowercased() == word
            })
        else {
            let known = Self.named.flatMap { [$0.name, $0.path[0]] + $0.members } + types.map(Self.bare)
            throw Self.unknown(text, nearest: Nearest.to(word, among: known.map { $0.lowercased() }), among: known)
        }
        let type = HealthType.named(identifier)
        self.type = identifier
        name = identifier
        switch type.kind {
        case .workout, .correlation:
            throw .usage("\(identifier) has no figure to explain", hint: "name the type of one of its parts")
        case .category:
            (kind, path, unit) = (.count, ["other", identifier, "count"], "count")
        default:
            kind = type.style == .cumulative ? .total : .average
            path = ["other", identifier, type.style == .cumulative ? "sum" : "average"]
            unit = type.unit
        }
    }

    /// Without "HKQuantityTypeIdentifier" and the like: "StepCount"; "Workout" of what has no name behind it.
    static func bare(_ identifier: String) -> String {
        guard let prefix = identifier.firstRange(of: "TypeIdentifier") else { return identifier }
        let name = identifier[prefix.upperBound...]
        return name.isEmpty ? String(identifier[..<prefix.lowerBound].dropFirst(2)) : String(name)
    }

    private static func unknown(_ text: String, nearest: String?, among known: [String]) -> Failure {
        let meant = nearest.flatMap { nearest in known.first { $0.lowercased() == nearest } }
        return .usage(
            "'\(text)' is no metric",
            hint: (meant.map { "did you mean \($0)? " } ?? "") + "there are \(names.joined(separator: ", ")), "
                + "and HealthKit's types, as in DistanceCycling")
    }

    /// The figure in a day's summary; what a stack's own handler doesn't name is under `other`.
    package func figure(in summary: Value) -> Double? {
        func value(_ path: [String]) -> Double? { path.reduce(summary) { $0[$1] }.double }
        if kind == .workouts {
            // No list and an empty one say the same.
            return summary[path[0]].array.flatMap { $0.isEmpty ? nil : Double($0.count) }
        }
        return value(path) ?? value(["other", type, "sum"])
            ?? value(["other", type, kind == .count ? "count" : "average"])
    }
}
