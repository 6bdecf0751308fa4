import HealthModel

/// The names of workouts: an iPhone sends HealthKit's in snake case, Android the number of Health Connect's type.
enum LifeDashboardActivity {
    /// HealthKit's name, such as `HKWorkoutActivityTypeRunning`.
    static func identifier(of name: String) -> String {
        if let number = Int(name) { return WorkoutActivity(named: ofHealthConnect[number] ?? "other").identifier }
        let known = WorkoutActivity(named: shortened[name] ?? name.replacing("_", with: " "))
        return known.raw == nil ? WorkoutActivity(named: "other").identifier : known.identifier
    }

    private static let shortened = ["hiit": "highIntensityIntervalTraining"]

    /// `ExerciseSessionRecord`'s constants that HealthKit has an activity for.
    private static let ofHealthConnect: [Int: String] = [
        2: "badminton", 4: "baseball", 5: "basketball", 8: "cycling", 9: "cycling", 10: "crossTraining", 11: "boxing",
        13: "functionalStrengthTraining", 14: "cricket", 16: "socialDance", 25: "elliptical", 26: "mixedCardio",
        27: "fencing", 28: "americanFootball", 29: "australianFootball", 31: "discSports", 32: "golf",
        33: "mindAndBody", 34: "gymnastics", 35: "handball", 36: "highIntensityIntervalTraining", 37: "hiking",
        38: "hockey", 39: "skatingSports", 44: "martialArts", 46: "paddleSports", 48: "pilates", 50: "racquetball",
        51: "climbing", 52: "hockey", 53: "rowing", 54: "rowing", 55: "rugby", 56: "running", 57: "running",
        58: "sailing", 59: "underwaterDiving", 60: "skatingSports", 61: "downhillSkiing", 62: "snowboarding",
        63: "snowSports", 64: "soccer", 65: "softball", 66: "squash", 68: "stairs", 69: "stairClimbing",
        70: "traditionalStrengthTraining", 71: "flexibility", 72: "surfingSports", 73: "swimming", 74: "swimming",
        75: "tableTennis", 76: "tennis", 78: "volleyball", 79: "walking", 80: "waterPolo",
        81: "traditionalStrengthTraining", 82: "wheelchairWalkPace", 83: "yoga",
    ]
}
