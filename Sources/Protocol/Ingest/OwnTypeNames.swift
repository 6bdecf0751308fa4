import HealthModel

/// Names that a person's own type can't have, in any letter case, because commands take them to mean something else.
/// Pure.
package enum OwnTypeNames {
    /// What a name already means.
    package enum Meaning: Sendable, Equatable {
        /// A HealthKit type, without its prefix, and whether its events can be entered by hand.
        case healthKit(String, isEntered: Bool)
        /// A figure of a day.
        case figure
    }

    /// The characters that names and ids consist of.
    package static let bytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Whether a type can have such a name, which is part of topics and paths; it may still be taken.
    package static func isWellFormed(_ name: String) -> Bool {
        guard name.utf8.count <= 64, let first = name.first else { return false }
        return name.utf8.allSatisfy(bytes.contains) && (first.isLetter || first == "_")
    }

    /// Whether names like this one are reserved for Apple's types.
    package static func isReserved(_ name: String) -> Bool {
        name.hasPrefix("HK") || name.hasPrefix("CL") || HealthType.base(ofStatistics: name) != nil
    }

    /// nil if the name is free.
    package static func meaning(of name: String) -> Meaning? {
        let word = name.lowercased()
        if let type = healthKit[word] {
            return .healthKit(bare(type.identifier), isEntered: type.kind == .quantity || type.kind == .category)
        }
        if let meant = synonyms[word] { return .healthKit(meant, isEntered: true) }
        return figures.contains(word) ? .figure : nil
    }

    /// "my-headache": a name that is free.
    package static func proposal(for name: String) -> String { "my-" + name.lowercased() }

    /// By identifier and by the name without its prefix, in lower case.
    private static let healthKit: [String: HealthType] = {
        // Quantities and categories come last, because only those can be entered.
        let types = HealthType.allKnown.values.sorted { $0.identifier < $1.identifier }
        let entered = types.filter { $0.kind == .quantity || $0.kind == .category }
        return (types + entered).reduce(into: [:]) {
            $0[$1.identifier.lowercased()] = $1
            $0[bare($1.identifier).lowercased()] = $1
        }
    }()

    private static func bare(_ identifier: String) -> String {
        guard let prefix = identifier.firstRange(of: "TypeIdentifier") else { return identifier }
        let name = identifier[prefix.upperBound...]
        return name.isEmpty ? String(identifier[..<prefix.lowerBound].dropFirst(2)) : String(name)
    }

    /// Everyday names of HealthKit's types.
    private static let synonyms = ["weight": "BodyMass"]

    /// The names under which the figures of the handlers shipped here are known: in days, in the views' columns, in
    /// tables, and to `explain`.
    private static let figures = Set(
        """
        active-energy active_energy_kilocalories activeenergykilocalories asleep basal-energy basal_energy_kilocalories
        basalenergykilocalories body-fat body-mass body-mass-index body_fat_fraction body_fat_mean_fraction
        body_mass_index body_mass_index_mean body_mass_kilograms body_mass_mean_kilograms bodyfatfraction
        bodyfatmeanfraction bodymassindex bodymassindexmean bodymasskilograms bodymassmeankilograms distance
        distance_meters distancemeters exercise exercise_minutes exerciseminutes flights flights_climbed flightsclimbed
        floors heart-rate heart_rate heart_rate_average heart_rate_max heart_rate_min heart_rate_resting heartrate
        heartratemax heartratemin height height_mean_meters height_meters heightmeanmeters heightmeters hrv
        hrv_sdnn_milliseconds hrvsdnnmilliseconds hydration kg km move move_minutes moveminutes naps other places
        resting-heart-rate restingheartrate sleep sleep_asleep_minutes stand stand-time stand_hours stand_minutes
        standhours standminutes steps visits water water_milliliters watermilliliters workouts
        """.split { $0 == " " || $0 == "\n" }.map(String.init))
}
