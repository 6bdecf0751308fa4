/// The document type at the beginning of exports: which elements exist and what attributes they have.
enum DocumentType {
    static let text =
        "<!DOCTYPE HealthData [\n<!-- HealthKit Export Version: 14 -->\n" + elements.map { element($0) }.joined()
        + "]>\n"

    private static func element(_ entry: (name: String, content: String, attributes: String)) -> String {
        let declared = "<!ELEMENT \(entry.name) \(entry.content)>\n"
        guard !entry.attributes.isEmpty else { return declared }
        let attributes = entry.attributes.split(separator: " ").map { name in
            // A question mark means that the attribute may be missing.
            name.hasSuffix("?") ? "  \(name.dropLast()) CDATA #IMPLIED\n" : "  \(name) CDATA #REQUIRED\n"
        }
        return declared + "<!ATTLIST \(entry.name)\n" + attributes.joined() + ">\n"
    }

    private static let sample = "sourceName sourceVersion? device? creationDate? startDate endDate"
    private static let energy = "activeEnergyBurned? activeEnergyBurnedGoal? activeEnergyBurnedUnit?"
    private static let characteristic = "HKCharacteristicTypeIdentifier"

    private static let elements: [(name: String, content: String, attributes: String)] = [
        ("HealthData", "(ExportDate,Me,(Record|Correlation|Workout|ActivitySummary)*)", "locale origin?"),
        ("ExportDate", "EMPTY", "value"),
        (
            "Me", "EMPTY",
            ["DateOfBirth", "BiologicalSex", "BloodType", "FitzpatrickSkinType", "CardioFitnessMedicationsUse"]
                .map { characteristic + $0 }.joined(separator: " ")
        ),
        ("Record", "((MetadataEntry|HeartRateVariabilityMetadataList)*)", "type unit? value? " + sample),
        ("Correlation", "((MetadataEntry|Record)*)", "type " + sample),
        (
            "Workout", "((MetadataEntry|WorkoutEvent|WorkoutRoute|WorkoutStatistics)*)",
            "workoutActivityType duration? durationUnit? " + sample
        ),
        ("WorkoutEvent", "((MetadataEntry)*)", "type date duration? durationUnit?"),
        ("WorkoutStatistics", "EMPTY", "type startDate endDate average? minimum? maximum? sum? unit?"),
        ("WorkoutRoute", "((MetadataEntry|FileReference)*)", sample),
        ("FileReference", "EMPTY", "path"),
        (
            "ActivitySummary", "EMPTY",
            "dateComponents? " + energy
                + " appleMoveTime? appleMoveTimeGoal? appleExerciseTime? appleExerciseTimeGoal? appleStandHours? appleStandHoursGoal?"
        ),
        ("MetadataEntry", "EMPTY", "key value"),
        ("HeartRateVariabilityMetadataList", "(InstantaneousBeatsPerMinute*)", ""),
        ("InstantaneousBeatsPerMinute", "EMPTY", "bpm time"),
    ]
}
