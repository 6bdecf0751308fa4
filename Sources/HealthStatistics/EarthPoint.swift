import Foundation

/// A place on the earth, modelled as a sphere; it is represented by its vector from the centre, in metres.
///
/// Vectors avoid the special cases of the poles and the date line, and a track's distances and errors are plain
/// lengths.
package struct EarthPoint: Sendable, Equatable {
    /// The earth's mean radius (IUGG), metres.
    package static let radius = 6_371_008.8

    let vector: SIMD3<Double>

    /// - Parameters: in degrees, WGS 84.
    package init(latitude: Double, longitude: Double) {
        let phi = latitude * .pi / 180
        let lambda = longitude * .pi / 180
        vector = Self.radius * SIMD3(cos(phi) * cos(lambda), cos(phi) * sin(lambda), sin(phi))
    }

    /// A point on the great circle between two places that aren't opposite each other.
    /// - Parameter share: 0 for the first place, 1 for the second.
    init(between a: EarthPoint, and b: EarthPoint, at share: Double) {
        let chord = a.vector + (b.vector - a.vector) * share
        let length = Self.length(chord)
        vector = length > 0 ? chord * (Self.radius / length) : a.vector
    }

    /// The distance along the great circle, in metres, as the haversine formula gives it.
    package func distance(to other: EarthPoint) -> Double {
        let chord = Self.length(vector - other.vector)
        return 2 * Self.radius * asin(min(1, chord / (2 * Self.radius)))
    }

    /// The distance from the straight line between two places, in metres. The middle of a straight line 16 km long is 5
    /// m below the ground.
    package func distance(toLineFrom a: EarthPoint, to b: EarthPoint) -> Double {
        let line = b.vector - a.vector
        let squared = (line * line).sum()
        guard squared > 0 else { return Self.length(vector - a.vector) }
        let place = min(1, max(0, ((vector - a.vector) * line).sum() / squared))
        return Self.length(vector - a.vector - place * line)
    }

    private static func length(_ vector: SIMD3<Double>) -> Double { (vector * vector).sum().squareRoot() }
}
