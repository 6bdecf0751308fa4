import Figures
import HealthModel
import JSON
import Protocol

/// How much of a day its figures cover, so that nobody mistakes half a day for a whole one. Pure.
package struct DayState: Equatable {
    package let date: LocalDay
    /// The zone in which the day begins; nil for a date that was skipped.
    package let zone: String?
    package let isFinal: Bool
    package let revision: Int64
    /// Handlers whose figures the day is waiting for.
    package let waitsFor: [String]
    /// Whether its summary has any figure.
    package let hasData: Bool
    /// The day's length in hours, to two digits: 23 or 25 when clocks change.
    package let hours: Double
    /// How many of its hours were over at the time of the answer, to two digits.
    package let hoursSoFar: Double
    /// Whether all of its hours were.
    private let hasEnded: Bool

    /// Nil for anything that isn't a day's summary.
    package init?(_ summary: Value, zones: ZoneTimeline, now: Instant) {
        guard let date = summary["date"].string.flatMap({ LocalDay($0) }) else { return nil }
        let state = summary.read(SummaryState.self)
        self.init(
            date, zone: summary["zone"].string, isFinal: state?.final == true, revision: state?.revision ?? 0,
            waitsFor: state?.missing ?? [], hasData: DaysReport.hasData(summary), zones: zones, now: now)
    }

    package init(
        _ date: LocalDay, zone: String?, isFinal: Bool, revision: Int64, waitsFor: [String], hasData: Bool = true,
        zones: ZoneTimeline, now: Instant
    ) {
        (self.date, self.zone, self.isFinal, self.revision) = (date, zone, isFinal, revision)
        (self.waitsFor, self.hasData) = (waitsFor, hasData)
        let ranges = zones.ranges(of: date)
        // Rounded down, so that a day doesn't seem over before it is.
        func hours(_ ranges: [Range<Instant>]) -> Double {
            (ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound).seconds } / 36).rounded(.down) / 100
        }
        self.hours = hours(ranges)
        let begun = ranges.filter { $0.lowerBound < now }
        hoursSoFar = hours(begun.map { $0.lowerBound..<min($0.upperBound, now) })
        hasEnded = ranges.allSatisfy { $0.upperBound <= now }
    }

    package var isOver: Bool { isFinal || hasEnded }

    /// For example "final", or "not over: 13.5 of 24 hours so far".
    package var text: String {
        if isFinal {
            return revision > 1
                ? "final, corrected \(revision == 2 ? "once" : "\(revision - 1) times") since it first was" : "final"
        }
        let waits = waitsFor.isEmpty ? "" : ", waits for \(waitsFor.joined(separator: ", "))"
        guard isOver else {
            return "not over: \(JSONNumber.text(hoursSoFar)) of \(JSONNumber.text(hours)) hours so far" + waits
        }
        return hasData ? "over, but not final: more may come" + waits : "over, and there is no data for it"
    }

    package var members: [String: Value] {
        [
            "date": .string(date.description), "zone": Value(zone), "final": .bool(isFinal),
            "revision": .integer(revision), "state": .string(text), "hoursInDay": .number(hours),
            "hoursSoFar": .number(min(hoursSoFar, hours)),
        ]
    }

    /// The members that every row about a day contains.
    static let schema: [String: Value] = [
        "date": ["type": "string"], "zone": ["type": ["string", "null"]],
        "final": ["type": "boolean", "description": "false: don't use it as a whole, settled day"],
        "revision": ["type": "integer"], "state": ["type": "string"], "hoursInDay": ["type": "number"],
        "hoursSoFar": ["type": "number"],
    ]
}
