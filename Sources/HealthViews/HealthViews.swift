import Configuration
import HealthModel

/// The views for querying what was delivered. Their names, columns and rows are the same in the reference backend's
/// SQLite file and in PostgreSQL. They are documented in `docs/queries.md`.
///
/// They leave out whatever is deleted. `days` and `hours` have a column for each figure declared in a handler's
/// manifest, so a person's own figures are columns too. Later releases may add columns, but never rename or remove one.
package struct HealthViews: Sendable, Equatable {
    /// The views, in the order of the documentation.
    package let all: [HealthView]

    /// - Parameter figures: the figures of days, from `StackConfiguration.figures`.
    package init(figures: [FigureDeclaration]) {
        all = [
            HealthView(name: .samples, summary: "one row per sample that isn't deleted", columns: Self.samples),
            HealthView(name: .days, summary: "one row per local day", columns: Self.days(figures)),
            HealthView(name: .hours, summary: "one row per hour of the local clock", columns: Self.hours(figures)),
            HealthView(
                name: .nights, summary: "one row per sleep, the main one and naps, or other time in bed",
                columns: Self.nights),
            HealthView(name: .workouts, summary: "one row per workout", columns: Self.workouts),
            HealthView(
                name: .workoutParts,
                summary: "one row per activity, lap, segment, marker, pause and resumption of a workout",
                columns: Self.workoutParts),
            HealthView(
                name: .bloodPressures, summary: "one row per blood pressure, which is two samples",
                columns: Self.bloodPressures),
            HealthView(
                name: .sources, summary: "one row per source and type, without deleted samples", columns: Self.sources),
        ]
    }

    package subscript(name: HealthView.Name) -> HealthView? { all.first { $0.name == name } }

    private static let user = ViewColumn("user_id", .text, "whose")
    private static let version = ViewColumn("version", .integer, "rises with each change")

    private static let samples = [
        ViewColumn("id", .uuid, "the sample's id"), user,
        ViewColumn(
            "type", .text,
            "HealthKit's identifier, such as HKQuantityTypeIdentifierStepCount; sums and means, which aren't samples, "
                + "have HKQuantityTypeIdentifierStepCount.statistics"),
        ViewColumn("start_date", .moment, "when it begins"), ViewColumn("end_date", .moment, "when it ends"),
        ViewColumn("value", .real, "in unit; NULL if the type has none"),
        ViewColumn("unit", .text, "such as count/min; NULL where there is none"),
        ViewColumn("source", .text, "the app or device, as the phone calls it"),
        ViewColumn("source_type", .text, "healthkit, or manual for samples never in HealthKit"),
        ViewColumn("healthkit_uuid", .uuid, "HealthKit's own UUID, if known"),
        ViewColumn("metadata", .json, "an object, or NULL"),
        ViewColumn("payload", .json, "what doesn't fit elsewhere, such as parts of a correlation"), version,
    ]

    private static func days(_ figures: [FigureDeclaration]) -> [ViewColumn] {
        var columns = [
            user, ViewColumn("date", .date, "the local day"),
            ViewColumn("zone", .text, "the time zone it begins in", .member(["zone"])),
            ViewColumn("final", .boolean, "whether the day is over and complete", .member(["final"])),
            ViewColumn("revision", .integer, "how often it was final with different figures", .member(["revision"])),
            version,
        ]
        for figure in figures where figure.isReadable {
            columns.append(
                figure: figure.path, figure.form == .number ? .real : .json, .member(figure.path),
                unit: figure.form == .number ? figure.unit : "",
                // As in `healthbus days`: a day without workouts has an empty list.
                absent: figure.path.count == 1 && figure.form != .number ? figure.absent : nil)
        }
        return columns
    }

    private static func hours(_ figures: [FigureDeclaration]) -> [ViewColumn] {
        var columns = [
            user, ViewColumn("date", .date, "the local day"),
            ViewColumn(
                "hour", .integer, "the hour the local clock shows, 0 to 23; when it is set back, one hour occurs twice"),
            ViewColumn("start_date", .moment, "when the hour begins; distinguishes hours with the same number"),
        ]
        for figure in figures {
            guard let name = figure.hourly, FigureDeclaration.isReadable([name]) else { continue }
            columns.append(figure: [name], .real, .hour(name), unit: figure.unit)
        }
        return columns
    }

    private static func minutes(_ member: String, _ meaning: String) -> ViewColumn {
        ViewColumn(ColumnName.make([member]), .real, meaning, .member([member]), unit: "min")
    }

    private static let nights = [
        user, ViewColumn("id", .text, "the night's id"), ViewColumn("date", .date, "the local day it belongs to"),
        ViewColumn("start_date", .moment, "when it begins"), ViewColumn("end_date", .moment, "when it ends"),
        ViewColumn(
            "main", .boolean,
            "whether it is the day's main sleep; otherwise a nap, or time in bed if asleep_minutes is NULL",
            .member(["main"])),
        minutes("asleepMinutes", "asleep"), minutes("inBedMinutes", "in bed"), minutes("awakeMinutes", "awake"),
        minutes("coreMinutes", "in core sleep"), minutes("deepMinutes", "in deep sleep"),
        minutes("remMinutes", "in REM sleep"),
        minutes("unspecifiedMinutes", "asleep, stage unknown"), minutes("latencyMinutes", "until asleep"),
        minutes("wakeAfterOnsetMinutes", "awake after falling asleep"),
        ViewColumn("efficiency", .real, "share of the time in bed spent asleep, 0 to 1", .member(["efficiency"])),
        ViewColumn("source", .text, "the first source of its stages", .member(["source"])),
        ViewColumn("sources", .json, "which minutes came from whom, a list", .member(["sources"])), version,
    ]

    private static let workouts = [
        user, ViewColumn("id", .text, "the workout's id"),
        ViewColumn("activity", .text, "such as running; other if unknown", .member(["type"])),
        ViewColumn("start_date", .moment, "when it begins"), ViewColumn("end_date", .moment, "when it ends"),
        ViewColumn("duration_seconds", .real, "without pauses", .member(["duration"]), unit: "s"),
        ViewColumn("distance_meters", .real, "NULL if unknown, like all below", .member(["distance"]), unit: "m"),
        ViewColumn("active_energy_kcal", .real, "active energy", .member(["activeEnergy"]), unit: "kcal"),
        ViewColumn(
            "heart_rate_average", .real, "beats per minute", .member(["heartRate", "average"]), unit: "count/min"),
        ViewColumn("heart_rate_min", .real, "beats per minute", .member(["heartRate", "minimum"]), unit: "count/min"),
        ViewColumn("heart_rate_max", .real, "beats per minute", .member(["heartRate", "maximum"]), unit: "count/min"),
        ViewColumn("ascent_meters", .real, "of the route", .member(["route", "ascentMeters"]), unit: "m"),
        ViewColumn("descent_meters", .real, "of the route", .member(["route", "descentMeters"]), unit: "m"),
        ViewColumn("route_points", .integer, "how many points the route has", .member(["route", "points"])),
        ViewColumn(
            "swimming_strokes", .real, "counted by the watch", .member(["swimmingStrokes"]), unit: "count"),
        ViewColumn("metadata", .json, "an object, or NULL", .member(["metadata"])), version,
    ]

    private static let workoutParts = [
        user, ViewColumn("workout_id", .text, "the workout's id"),
        ViewColumn(
            "kind", .text, "activity, lap, segment, marker, pause, resume, or HealthKit's other kinds of events"),
        ViewColumn("start_date", .moment, "when it begins"), ViewColumn("end_date", .moment, "when it ends"),
        ViewColumn(
            "duration_seconds", .real, "without pauses, for an activity", .member(["durationSeconds"]), unit: "s"),
        ViewColumn("activity", .text, "of an activity, such as running", .member(["activity"])),
        ViewColumn("distance_meters", .real, "of an activity", .member(["distanceMeters"]), unit: "m"),
        ViewColumn(
            "active_energy_kcal", .real, "of an activity", .member(["energyKilocalories"]), unit: "kcal"),
        ViewColumn("swimming_strokes", .real, "of an activity", .member(["swimmingStrokes"]), unit: "count"),
        ViewColumn(
            "stroke_style", .text, "of a lap or segment: HealthKit's number, such as 2 for freestyle",
            .member(["metadata", "HKSwimmingStrokeStyle"])),
        ViewColumn("metadata", .json, "an object, or NULL", .member(["metadata"])), version,
    ]

    private static let bloodPressures = [
        user, ViewColumn("start_date", .moment, "when it begins"), ViewColumn("end_date", .moment, "when it ends"),
        ViewColumn("systolic", .real, "NULL if that sample is missing", unit: "mmHg"),
        ViewColumn("diastolic", .real, "likewise", unit: "mmHg"),
        ViewColumn("source", .text, "the app or device, as the phone calls it"),
        ViewColumn("source_type", .text, "healthkit, or manual for samples never in HealthKit"), version,
    ]

    private static let sources = [
        user, ViewColumn("source", .text, "the app or device"), ViewColumn("type", .text, "as in samples"),
        ViewColumn("samples", .integer, "how many"), ViewColumn("first_date", .moment, "when the first one begins"),
        ViewColumn("last_date", .moment, "when the last one begins"),
    ]
}

extension HealthViews {
    /// The pairs of systolic and diastolic samples, in both databases' SQL. A source's samples of one time are a pair,
    /// whether or not it said so.
    static func pressures(from samples: String) -> String {
        let types = HealthType.bloodPressureParts.map(ColumnName.literal)
        func value(_ type: String) -> String { "max(CASE type WHEN \(type) THEN value END)" }
        return """
            SELECT user_id, start_date, end_date, \(value(types[0])) AS systolic, \(value(types[1])) AS diastolic, source, source_type,
                max(version) AS version FROM (\(samples)) s WHERE type IN (\(types.joined(separator: ", ")))
                GROUP BY user_id, start_date, end_date, source, source_type
            """
    }
}

extension FigureDeclaration {
    fileprivate var isReadable: Bool { Self.isReadable(path) }

    /// Whether JSON paths in both databases can express this name.
    fileprivate static func isReadable(_ path: [String]) -> Bool {
        path.allSatisfy { part in !part.unicodeScalars.contains { $0 == "\"" || $0 == "\\" || $0.value < 32 } }
    }
}
