import HealthModel
import HealthStatistics
import Inspection
import Terminal

/// A day's workouts: which ones count, which ones were written several times or overlap, and where their values come
/// from.
struct WorkoutListExplanation: Explanation {
    let workouts: [WorkoutExplanation]
    let dropsRepeats: Bool
    /// The workouts as computed by the handler.
    let figures: [String: Value]

    init(_ input: DayInput) throws {
        let day = try WorkoutsDay(input)
        workouts = day.explanations
        dropsRepeats = WorkoutsDay.dropsRepeats(input.configuration)
        figures = ["workouts": day.figure]
    }

    private var counted: Int { workouts.count(where: \.counts) }
    var result: Double? { workouts.isEmpty ? nil : Double(counted) }

    var rule: String {
        "Workouts that start on the day count; those of different sources aren't merged. "
            + (dropsRepeats
                ? "Of those with the same source, start and activity, only the newest counts."
                : "Those with the same source, start and activity all count (newestOfRepeats is off).")
    }

    private func why(_ workout: WorkoutExplanation) -> String {
        guard workout.written > 1 else { return "the only one of this source, start and activity" }
        if workout.repeats == nil { return "the newest of \(workout.written) of this source, start and activity" }
        return "one of \(workout.written) of this source, start and activity; not the newest"
    }

    var members: [String: Value] {
        [
            "newestOfRepeats": .bool(dropsRepeats),
            "workouts": .array(
                workouts.map { workout in
                    [
                        "id": .string(workout.id), "counted": .bool(workout.counts), "why": .string(why(workout)),
                        "activity": .string(workout.activity), "source": .string(workout.source),
                        "start": .string(InstantText.iso8601(workout.start)),
                        "end": .string(InstantText.iso8601(workout.end)),
                        "created": Value(workout.created.map { InstantText.iso8601($0) }),
                        "repeats": Value(workout.repeats.map { workouts[$0].id }),
                        "replaced": .array(
                            workout.replaced.map {
                                [
                                    "end": .string(InstantText.iso8601($0.end)),
                                    "on": .string(InstantText.iso8601($0.on)),
                                ]
                            }),
                        "overlaps": .array(workout.overlaps.map { .string(workouts[$0].id) }),
                        "durationSeconds": .number(workout.duration),
                        "durationFrom": .string(workout.durationOrigin.name),
                        "pausedSeconds": .number(workout.paused),
                        "distanceMeters": Value(workout.distance), "distanceFrom": Self.from(workout.distanceOrigin),
                        "energyKilocalories": Value(workout.energy), "energyFrom": Self.from(workout.energyOrigin),
                        "heartRate": workout.heartRate, "heartRateFrom": Self.from(workout.heartRateOrigin),
                    ]
                }),
        ]
    }

    /// `{from, parts}`, `{from, samples}` or `{from}`.
    private static func from(_ origin: WorkoutOrigin) -> Value {
        var members: [String: Value] = ["from": .string(origin.name)]
        if case .statistics(let parts) = origin {
            members["parts"] = .array(parts.map { ["type": .string($0.type), "sum": .number($0.sum)] })
        }
        if case .samples(let count) = origin { members["samples"] = Value(count) }
        return .object(members)
    }

    func tables(_ shown: ExplainOptions, _ clock: DayClock) -> [ExplainTable] {
        var list = Table([
            .number("No"), .init("From"), .init("To"), .init("Activity"), .init("Source"), .init("Counts"),
            .init("Written again", givesWay: 2), .init("Overlaps", givesWay: 1),
        ])
        var values = Table([
            .number("No"), .number("Lasts"), .init("which is", givesWay: 3), .number("Distance"),
            .init("from", givesWay: 2), .number("Energy"), .init("from", givesWay: 2), .number("Heart rate"),
            .init("from", givesWay: 1),
        ])
        for (index, workout) in workouts.enumerated() {
            list.add([
                "\(index + 1)", clock.time(workout.start), clock.end(workout.end), workout.activity, workout.source,
                workout.counts ? "yes" : "no", workout.repeats.map { "as \($0 + 1)" } ?? "",
                workout.overlaps.map { "\($0 + 1)" }.joined(separator: ", "),
            ])
            values.add([
                "\(index + 1)", HumanFormat.duration(.seconds(workout.duration)), Self.words(workout.durationOrigin),
                workout.distance.map { "\(ShownNumber.short($0)) m" } ?? "", Self.words(workout.distanceOrigin),
                workout.energy.map { "\(ShownNumber.short($0)) kcal" } ?? "", Self.words(workout.energyOrigin),
                workout.heartRate["average"].double.map { "\(ShownNumber.short($0))/min" } ?? "",
                Self.words(workout.heartRateOrigin),
            ])
        }
        let again = workouts.count { $0.repeats != nil }
        var footer: [String] =
            again == 0
            ? []
            : [
                "\(again) written again by their source: the column gives the number of the newest version."
                    + (dropsRepeats ? "" : " With newestOfRepeats only that one counts.")
            ]
        footer += workouts.enumerated().flatMap { index, workout in
            workout.replaced.map {
                "\(index + 1) replaced on \(clock.zones.day(of: $0.on)) an earlier version that ended \(clock.time($0.end))."
            }
        }
        return [
            ExplainTable(table: list, rowsOnScreen: 40, footer: footer.isEmpty ? nil : footer.joined(separator: "\n")),
            ExplainTable(table: values, rowsOnScreen: 40),
        ]
    }

    private static func words(_ origin: WorkoutOrigin) -> String {
        switch origin {
        case .statistics(let parts):
            parts.count == 1 ? "its statistic" : "\(parts.count) of its statistics, added up"
        case .statistic: "its statistic"
        case .total: "its total"
        case .printed: "its own duration"
        case .activeTime: "end − start − pauses"
        case .samples(let count): HumanFormat.count(count, "sample")
        case .unknown: ""
        }
    }
}
