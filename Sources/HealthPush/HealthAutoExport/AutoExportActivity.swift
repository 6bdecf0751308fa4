import HealthModel
import JSON

/// The app's names for workouts, as shown to people: "Outdoor Run", "Traditional Strength Training".
enum AutoExportActivity {
    /// The name as shown, and HealthKit's name of the activity; nil if there is no name. People name workouts as they
    /// like, so a name that isn't an activity's is passed over where another member has one.
    static func named(_ members: [JSONSpan?]) -> (name: String, activity: String)? {
        let names = members.compactMap { $0?.text ?? $0?.integer.map { String($0) } }.filter { !$0.isEmpty }
        guard let name = names.first else { return nil }
        let known = names.lazy.map { WorkoutActivity(named: $0) }.first { $0.raw != nil }
        return (name, (known ?? WorkoutActivity(named: name)).identifier)
    }

    /// Whether the name says that the workout was indoors; nil if it doesn't say.
    static func isIndoor(_ text: String) -> Bool? {
        let words = text.lowercased().split { !$0.isLetter }
        if words.contains("indoor") { return true }
        return words.contains("outdoor") ? false : nil
    }
}
