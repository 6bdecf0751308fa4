import Foundation
import HealthModel

/// A workout's route, summarized in a few numbers and a track of at most 256 points. It is made from raw points that
/// arrive in pieces of any size.
package struct RouteSummary: Sendable {
    /// Positions whose accuracy in metres is worse than this don't count; a negative accuracy means that there is no
    /// position at all.
    static let horizontalAccuracy = 50.0
    static let verticalAccuracy = 20.0
    /// How many metres the elevation must move back before a climb or descent counts as finished.
    static let elevationThreshold = 3.0
    /// The tolerance of the track, in metres.
    static let tolerance = 5.0
    static let trackLimit = 256

    /// All raw points, whether they count or not.
    package private(set) var points = 0
    private var located = 0
    private var length = CompensatedSum()
    private var gain = ElevationGain(threshold: Self.elevationThreshold)
    private var last: EarthPoint?
    private var track = TrackSimplifier()

    package init() {}

    /// - Parameters: latitude and longitude in degrees, elevation and accuracies in metres; NaN for anything unknown.
    package mutating func add(
        time: Instant, latitude: Double, longitude: Double, elevation: Double, horizontalAccuracy: Double,
        verticalAccuracy: Double
    ) {
        points += 1
        guard abs(latitude) <= 90, abs(longitude) <= 180,
            Self.isGood(horizontalAccuracy, limit: Self.horizontalAccuracy)
        else { return }
        let isHigh = elevation.isFinite && Self.isGood(verticalAccuracy, limit: Self.verticalAccuracy)
        let point = TrackSimplifier.Point(
            time: time, latitude: latitude, longitude: longitude, elevation: isHigh ? elevation : .nan)
        if let last { length.add(last.distance(to: point.place)) }
        if isHigh { gain.add(elevation) }
        last = point.place
        located += 1
        track.add(point)
    }

    private static func isGood(_ accuracy: Double, limit: Double) -> Bool {
        accuracy.isNaN || (accuracy >= 0 && accuracy <= limit)
    }

    /// The distance in metres; nil unless at least two points count.
    package var distance: Double? { located > 1 ? length.value : nil }
    package var ascent: Double? { gain.ascent }
    package var descent: Double? { gain.descent }

    /// `{points, distanceMeters, ascentMeters, descentMeters, track}`. The track is null if no point counts; otherwise
    /// it is `{toleranceMeters, start, seconds, latitude, longitude, elevation}`, with columns of equal length.
    package var value: Value {
        [
            "points": .integer(Int64(points)), "distanceMeters": Value(distance?.rounded(decimals: 1)),
            "ascentMeters": Value(ascent?.rounded(decimals: 1)), "descentMeters": Value(descent?.rounded(decimals: 1)),
            "track": trackValue,
        ]
    }

    private var trackValue: Value {
        let (points, tolerance) = track.track(tolerance: Self.tolerance, limit: Self.trackLimit)
        guard let start = points.first?.time else { return .null }
        func column(_ number: (TrackSimplifier.Point) -> Value) -> Value { .array(points.map(number)) }
        return [
            "toleranceMeters": Value(tolerance.rounded(decimals: 1)), "start": .string(InstantText.iso8601(start)),
            "seconds": column { .integer(Int64(($0.time - start).seconds.rounded())) },
            // Six decimals (11 cm), as exports print them.
            "latitude": column { Value($0.latitude.rounded(decimals: 6)) },
            "longitude": column { Value($0.longitude.rounded(decimals: 6)) },
            "elevation": column { Value($0.elevation.rounded(decimals: 1)) },
        ]
    }
}
