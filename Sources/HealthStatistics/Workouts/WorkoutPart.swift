import HealthModel

/// One of a workout's activities; a workout that names none counts as a single activity.
struct WorkoutPart {
    let activity: WorkoutActivity
    let body: WorkoutBody

    static func parts(of whole: WorkoutBody, activity: WorkoutActivity) -> [WorkoutPart] {
        let named = whole.activities.map { WorkoutPart(activity: kind(of: $0, within: activity), body: $0) }
        return named.isEmpty ? [WorkoutPart(activity: activity, body: whole)] : named
    }

    /// Exports don't print an activity's kind. The kind is the workout's, except in a swim-bike-run. There, the type of
    /// the activity's distance shows which kind it is, and an activity without distance is a transition.
    private static func kind(of part: WorkoutBody, within whole: WorkoutActivity) -> WorkoutActivity {
        if let name = part["activity"].string { return WorkoutActivity(named: name) }
        guard whole.name == "swimBikeRun" else { return whole }
        let kinds = [("Swimming", "swimming"), ("Cycling", "cycling"), ("WalkingRunning", "running")]
        let found = kinds.first { type, _ in
            (part.statistic("HKQuantityTypeIdentifierDistance" + type)["sum"].double ?? 0) > 0
        }
        return WorkoutActivity(named: found?.1 ?? "transition")
    }

    var value: Value {
        [
            "activity": .string(activity.name), "activityType": Value(activity.raw),
            "start": .string(InstantText.iso8601(body.start)), "end": .string(InstantText.iso8601(body.end)),
            "durationSeconds": .number(body.duration), "distanceMeters": Value(body.distance),
            "energyKilocalories": Value(body.energy), "swimmingStrokes": Value(body.swimmingStrokes),
        ]
    }
}
