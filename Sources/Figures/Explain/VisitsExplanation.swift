import HealthModel
import HealthStatistics
import Inspection
import Terminal

/// A day's visits to places, each with the fixes from which it is derived.
struct VisitsExplanation: Explanation {
    let visits: [PlaceExplanation]
    let fixes: Int
    /// The visits as computed by the handler.
    let figures: [String: Value]
    private let rules: PlaceRules

    init(_ input: DayInput) throws {
        let day = try PlacesDay(input)
        rules = try PlaceRules(input.configuration)
        visits = day.explanations
        fixes = day.fixCount
        figures = ["places": day.figures["places"] ?? .null, "visits": day.figures["visits"] ?? .null]
    }

    var result: Double? { visits.isEmpty ? nil : Double(visits.count) }

    var rule: String {
        "An arrival or a departure counts once fixes agree on it for \(ShownNumber.short(rules.settle.seconds)) s, as of the first of them. "
            + "A fix in the circle is inside; a fix beyond it by more than \(ShownNumber.short(rules.margin)) m, and by more than its own accuracy, is outside. "
            + "After \(ShownNumber.short(rules.gap.seconds / 3600)) h without either, nothing is known."
    }

    var members: [String: Value] {
        [
            "fixes": Value(fixes),
            "visits": .array(
                visits.map { visit in
                    [
                        "place": .string(visit.place), "start": .string(InstantText.iso8601(visit.start)),
                        "end": .string(InstantText.iso8601(visit.end)), "arrival": .string(visit.arrival),
                        "departure": Value(visit.departure),
                        "firstSeen": .string(InstantText.iso8601(visit.firstSeen)),
                        "lastSeen": .string(InstantText.iso8601(visit.lastSeen)), "fixesInside": Value(visit.fixes),
                        "nearestMeters": .number(visit.nearest.rounded(decimals: 1)),
                        "fixesUndecided": Value(visit.undecided),
                    ]
                }),
        ]
    }

    func tables(_ shown: ExplainOptions, _ clock: DayClock) -> [ExplainTable] {
        var table = Table([
            .init("From"), .init("To"), .init("Place"), .number("Time"), .init("Begins", givesWay: 3),
            .init("Ends", givesWay: 3), .init("Last seen inside"), .number("Fixes", givesWay: 2),
            .number("Nearest m", givesWay: 1),
        ])
        for visit in visits {
            table.add([
                clock.time(visit.start), clock.end(visit.end), visit.place,
                HumanFormat.duration(visit.end - visit.start), Self.words(arrival: visit.arrival),
                Self.words(departure: visit.departure), clock.time(visit.lastSeen), HumanFormat.count(visit.fixes),
                ShownNumber.short(visit.nearest.rounded()),
            ])
        }
        return [
            ExplainTable(
                table: table, rowsOnScreen: 40,
                footer: "Of \(HumanFormat.count(fixes, "fix", "fixes")) of the day and around it; "
                    + "fixes of a visit are those inside.")
        ]
    }

    private static func words(arrival: String) -> String {
        switch arrival {
        case "entered": "seen to come"
        case "continued": "the day before"
        default: "already inside when first seen"
        }
    }

    private static func words(departure: String?) -> String {
        switch departure {
        case "left": "seen outside"
        case "continues": "the next day"
        default: "not seen to leave"
        }
    }
}
