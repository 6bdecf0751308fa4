/// How far a route climbs and descends, in metres, without the noise of the sensor.
///
/// A turn counts once the elevation has moved back by `threshold` from the highest or lowest point since the last turn.
/// The climb or descent up to that point then counts in full, from turn to turn.
package struct ElevationGain: Sendable {
    private let threshold: Double
    private var ascended = 0.0
    private var descended = 0.0
    /// Where the current climb or descent began.
    private var turn: Double?
    private var lowest = 0.0
    private var highest = 0.0
    private enum Direction { case unknown, up, down }
    private var direction = Direction.unknown

    package init(threshold: Double) { self.threshold = threshold }

    package mutating func add(_ elevation: Double) {
        guard let begin = turn else {
            (turn, lowest, highest) = (elevation, elevation, elevation)
            return
        }
        lowest = min(lowest, elevation)
        highest = max(highest, elevation)
        switch direction {
        case .unknown:
            if elevation - lowest >= threshold {
                turn = lowest
                rise(to: elevation)
            } else if highest - elevation >= threshold {
                turn = highest
                fall(to: elevation)
            }
        case .up:
            if highest - elevation >= threshold {
                ascended += highest - begin
                turn = highest
                fall(to: elevation)
            }
        case .down:
            if elevation - lowest >= threshold {
                descended += begin - lowest
                turn = lowest
                rise(to: elevation)
            }
        }
    }

    private mutating func rise(to elevation: Double) {
        direction = .up
        highest = elevation
    }

    private mutating func fall(to elevation: Double) {
        direction = .down
        lowest = elevation
    }

    /// Nil if there is no elevation.
    package var ascent: Double? { turn.map { ascended + (direction == .up ? highest - $0 : 0) } }
    package var descent: Double? { turn.map { descended + (direction == .down ? $0 - lowest : 0) } }
}
