import HealthModel

/// Our ring figures compared day by day with those that Apple wrote into an `ActivitySummary`. Pure.
package struct RingComparison: Sendable {
    /// One figure of a day that both sides have, but with different values.
    package struct Difference: Sendable, Equatable {
        package var date: LocalDay
        /// The figure's name, as in `days --json`.
        package var figure: String
        package var unit: String
        package var ours: Double
        package var apples: Double

        package var difference: Double { ours - apples }
    }

    /// How far apart figures may be.
    package struct Tolerance: Sendable, Equatable {
        /// In the unit of the figure; stand hours are whole numbers and must be equal.
        package var absolute: Double
        /// As a fraction of Apple's figure.
        package var relative: Double

        /// 1 kcal or 1 min, or 1 %, whichever is more.
        package static let standard = Tolerance(absolute: 1, relative: 0.01)

        package init(absolute: Double, relative: Double) { (self.absolute, self.relative) = (absolute, relative) }

        func allows(_ ours: Double, _ apples: Double, isWhole: Bool) -> Bool {
            let allowed = isWhole ? 0 : max(absolute, relative * apples.magnitude)
            return (ours - apples).magnitude <= allowed
        }
    }

    package struct Tally: Sendable, Equatable {
        package var compared = 0
        package var differing = 0
        /// The size of the largest difference, without its sign.
        package var largest = 0.0
        /// Days on which only one side has the figure, so that it can't be compared.
        package var onlyOurs = 0
        package var onlyApples = 0

        package init(onlyOurs: Int = 0, onlyApples: Int = 0) {
            (self.onlyOurs, self.onlyApples) = (onlyOurs, onlyApples)
        }
    }

    private struct Ring {
        /// The figure's name in `days --json`.
        var figure: String
        var other: String?
        /// The attribute of `ActivitySummary`, in kcal, min or h.
        var attribute: String
        var unit: String

        /// The goal's attribute: `activeEnergyBurnedGoal`.
        var goal: String { attribute + "Goal" }
    }

    private static let rings = [
        Ring(figure: "activeEnergyKilocalories", attribute: "activeEnergyBurned", unit: "kcal"),
        Ring(figure: "exerciseMinutes", attribute: "appleExerciseTime", unit: "min"),
        Ring(figure: "standHours", attribute: "appleStandHours", unit: "h"),
        Ring(
            figure: "moveMinutes", other: "HKQuantityTypeIdentifierAppleMoveTime", attribute: "appleMoveTime",
            unit: "min"),
    ]

    package static var figures: [String] { rings.map(\.figure) }

    package let tolerance: Tolerance
    /// Days on which at least one figure was compared.
    package private(set) var compared = 0
    package private(set) var equal = 0
    package private(set) var differences: [Difference] = []
    /// Days on which nothing could be compared: those that have only our figures, and those that have only Apple's.
    package private(set) var onlyOurs: [LocalDay] = []
    package private(set) var onlyApples: [LocalDay] = []
    package private(set) var byFigure: [String: Tally] = [:]

    package init(tolerance: Tolerance = .standard) { self.tolerance = tolerance }

    package var differingDays: Int { compared - equal }

    /// The part of a day's summary that is compared: the figures of the rings.
    package static func ourFigures(of summary: Value) -> [String: Double] {
        var figures: [String: Double] = [:]
        for ring in rings {
            figures[ring.figure] =
                summary[ring.figure].double ?? ring.other.flatMap { summary["other"][$0]["sum"].double }
        }
        return figures
    }

    /// Adds a day.
    /// - Parameters:
    ///   - ours: our figures; an absent one means no data.
    ///   - apples: the attributes of Apple's summary; nil if there is none for this day.
    package mutating func add(_ date: LocalDay, ours: [String: Double], apples: Value?) {
        let apples = apples.flatMap { Self.isEmpty($0) ? nil : $0 }
        var wasCompared = false
        var isEqual = true
        var hasApples = false
        for ring in Self.rings where Self.isKept(ring, apples) {
            switch (ours[ring.figure], apples.flatMap { Self.figure(ring, in: $0) }) {
            case (let mine?, let theirs?):
                wasCompared = true
                if tolerance.allows(mine, theirs, isWhole: ring.unit == "h") {
                    byFigure[ring.figure, default: Tally()].compared += 1
                } else {
                    note(date, ring, mine, theirs)
                    isEqual = false
                }
            case (nil, let theirs?) where theirs != 0:
                hasApples = true
                byFigure[ring.figure, default: Tally()].onlyApples += 1
            case (_?, nil): byFigure[ring.figure, default: Tally()].onlyOurs += 1
            default: break
            }
        }
        if wasCompared {
            compared += 1
            if isEqual { equal += 1 }
        } else if hasApples {
            onlyApples.append(date)
        } else if !ours.isEmpty {
            onlyOurs.append(date)
        }
    }

    private mutating func note(_ date: LocalDay, _ ring: Ring, _ ours: Double, _ apples: Double) {
        let found = Difference(date: date, figure: ring.figure, unit: ring.unit, ours: ours, apples: apples)
        differences.append(found)
        byFigure[ring.figure, default: Tally()].compared += 1
        byFigure[ring.figure, default: Tally()].differing += 1
        let largest = byFigure[ring.figure]?.largest ?? 0
        byFigure[ring.figure, default: Tally()].largest = max(largest, found.difference.magnitude)
    }

    /// For a day without data, Apple prints a summary in which everything is zero.
    private static func isEmpty(_ apples: Value) -> Bool {
        rings.allSatisfy { (apples[$0.attribute].double ?? 0) == 0 }
    }

    /// Apple's figure; nil if the summary has no such ring, as when the figure is 0 and there is no goal.
    private static func figure(_ ring: Ring, in apples: Value) -> Double? {
        guard let figure = apples[ring.attribute].double else { return nil }
        return figure == 0 && apples[ring.goal].double == 0 ? nil : figure
    }

    /// The move ring counts either energy or minutes; the other is 0 in a summary, whatever was measured.
    private static func isKept(_ ring: Ring, _ apples: Value?) -> Bool {
        guard let apples else { return true }
        let byMinutes = [apples["appleMoveTimeGoal"], apples["appleMoveTime"]].contains { $0.double ?? 0 > 0 }
        switch ring.figure {
        case "moveMinutes": return byMinutes
        case "activeEnergyKilocalories": return !byMinutes || apples[ring.attribute].double ?? 0 > 0
        default: return true
        }
    }
}
