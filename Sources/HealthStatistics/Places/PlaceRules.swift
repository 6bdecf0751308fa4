import HealthModel

/// The handler's options for how fixes decide whether someone is at a place.
package struct PlaceRules: Sendable, Equatable {
    /// After more than this time without a decisive fix, nothing is known.
    package var gap = Duration.seconds(12 * 3600)
    /// A fix decides nothing if its accuracy in metres is worse than both this and half the radius.
    package var accuracy = 100.0
    /// How many metres beyond the circle a fix must be to count as outside; in any case, at least as many as its own
    /// accuracy.
    package var margin = 30.0
    /// How long fixes must agree before the state changes. Core Location uses 20 s.
    package var settle = Duration.seconds(20)

    package init() {}

    /// - Throws: `PlaceError.option`.
    package init(_ configuration: Value) throws {
        func number(_ name: String, _ usual: Double, _ allowed: ClosedRange<Double>) throws -> Double {
            let number = configuration[name].double ?? usual
            guard allowed.contains(number) else { throw PlaceError.option }
            return number
        }
        gap = .seconds(try number("gapHours", 12, 1...24) * 3600)
        accuracy = try number("accuracyMeters", accuracy, 0...100_000)
        margin = try number("marginMeters", margin, 0...100_000)
        settle = .seconds(try number("settleSeconds", 20, 0...3600))
    }

    /// The window that a day depends on: two gaps before the day, during which a state that still holds was settled,
    /// and one gap after the day, during which the next fix shows whether the state continued.
    package var window: HandlerWindow {
        HandlerWindow(before: .microseconds(2 * gap.microseconds), after: gap)
    }

    /// Whether a fix is inside the circle; nil if the fix isn't decisive.
    func verdict(_ fix: LocationFix, _ condition: PlaceCondition, distance: Double) -> Bool? {
        let accuracy = fix.accuracy.isNaN ? 0 : fix.accuracy
        guard accuracy >= 0, accuracy <= max(self.accuracy, condition.radius / 2) else { return nil }
        if distance <= condition.radius { return true }
        return distance > condition.radius + max(margin, accuracy) ? false : nil
    }
}
