import HealthModel

/// Explains one visit of a day by the fixes that show it.
package struct PlaceExplanation: Sendable {
    package var place: String
    package var start: Instant
    package var end: Instant
    /// "entered", "found" (already inside when first seen), or "continued" from the day before.
    package var arrival: String
    /// "left", or "continues" on the next day; nil if no fix shows the departure.
    package var departure: String?
    /// The first and last fix inside during the whole visit, and the number of fixes inside.
    package var firstSeen: Instant
    package var lastSeen: Instant
    package var fixes: Int
    /// Metres from the centre to the nearest of these fixes.
    package var nearest: Double
    /// How many fixes on and around the day didn't decide anything about this place.
    package var undecided: Int
}

extension PlacesDay {
    package var explanations: [PlaceExplanation] {
        parts.map { part in
            PlaceExplanation(
                place: part.visit.place, start: part.range.lowerBound, end: part.range.upperBound,
                arrival: part.arrival.rawValue, departure: part.departure?.rawValue, firstSeen: part.visit.arrival,
                lastSeen: part.visit.lastSeen, fixes: part.visit.fixes, nearest: part.visit.nearest,
                undecided: undecided[part.visit.place] ?? 0)
        }
    }

    /// The number of fixes, on and around the day, from which the day was computed.
    package var fixCount: Int { fixes }
}

extension PlacesDay {
    /// What is known about each place at a given moment, from a slice that ends at that moment and is twice `gapHours`
    /// long.
    /// - Throws: `PlaceError`.
    package static func states(_ input: DayInput, at now: Instant) throws -> [String: PlaceMonitor.State] {
        var states: [String: PlaceMonitor.State] = [:]
        for var monitor in try monitors(input).all {
            monitor.forget(at: now)
            states[monitor.condition.name] = monitor.state
        }
        return states
    }
}
