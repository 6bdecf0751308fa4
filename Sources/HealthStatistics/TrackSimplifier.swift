import HealthModel

/// Simplifies a track: keeps fewer points, stays near the original ones, and uses memory that doesn't grow with the
/// track.
///
/// Douglas–Peucker in chunks: every 8,192 points are reduced to a sixteenth, then every 8,192 of the remaining points
/// again, and so on. A dropped point is within the pass's tolerance of the line that remains. A later pass that moves
/// this line adds its own tolerance, since the distance to a line is convex along each dropped line. So the sum of the
/// passes' tolerances is a bound for every point.
package struct TrackSimplifier: Sendable {
    package struct Point: Sendable, Equatable {
        package var time: Instant
        /// Degrees.
        package var latitude: Double
        package var longitude: Double
        /// Metres; NaN where there is no elevation.
        package var elevation: Double
        let place: EarthPoint

        package init(time: Instant, latitude: Double, longitude: Double, elevation: Double) {
            (self.time, self.latitude, self.longitude, self.elevation) = (time, latitude, longitude, elevation)
            place = EarthPoint(latitude: latitude, longitude: longitude)
        }
    }

    static let stretch = 8192
    /// The maximum number of points to which a chunk is reduced, and the tolerance in metres with which its
    /// simplification starts.
    private static let kept = stretch / 16
    private static let fine = 1.0

    /// Points grouped by the number of passes they have gone through; later levels have fewer points.
    private var levels: [[Point]] = [[]]
    /// The largest tolerance used by any pass at each level.
    private var tolerances: [Double] = []

    package init() {}

    package var isEmpty: Bool { levels.allSatisfy(\.isEmpty) }

    package mutating func add(_ point: Point) {
        levels[0].append(point)
        var level = 0
        while levels[level].count >= Self.stretch {
            let (points, tolerance) = Self.simplified(levels[level], tolerance: Self.fine, limit: Self.kept)
            levels[level].removeAll(keepingCapacity: true)
            if level + 1 == levels.count {
                levels.append([])
                tolerances.append(0)
            }
            tolerances[level] = max(tolerances[level], tolerance)
            levels[level + 1] += points
            level += 1
        }
    }

    /// The track, and a distance in metres: every original point is at most that far from the track.
    /// - Parameters:
    ///   - tolerance: in metres; doubled until no more than `limit` points are needed.
    ///   - limit: at least 2.
    package func track(tolerance: Double, limit: Int) -> (points: [Point], tolerance: Double) {
        let (points, last) = Self.simplified(levels.reversed().flatMap { $0 }, tolerance: tolerance, limit: limit)
        return (points, tolerances.reduce(last, +))
    }

    private static func simplified(
        _ points: [Point], tolerance: Double, limit: Int
    ) -> (points: [Point], tolerance: Double) {
        var tolerance = tolerance
        while true {
            let kept = kept(points, tolerance)
            if kept.count <= limit { return (kept.map { points[$0] }, tolerance) }
            tolerance *= 2
        }
    }

    /// The points to keep: the ends, and any point farther than `tolerance` from the line between two kept points. Uses
    /// a loop, because on an evenly winding route, recursion could go as deep as the number of points.
    private static func kept(_ points: [Point], _ tolerance: Double) -> [Int] {
        guard points.count > 2 else { return Array(points.indices) }
        var stays = [Bool](repeating: false, count: points.count)
        stays[0] = true
        stays[points.count - 1] = true
        var open = [(first: 0, last: points.count - 1)]
        while let (first, last) = open.popLast() {
            guard last - first > 1 else { continue }
            var farthest = first
            var distance = tolerance
            for index in first + 1..<last {
                let found = points[index].place.distance(toLineFrom: points[first].place, to: points[last].place)
                if found > distance { (farthest, distance) = (index, found) }
            }
            guard farthest > first else { continue }
            stays[farthest] = true
            open.append((first, farthest))
            open.append((farthest, last))
        }
        return points.indices.filter { stays[$0] }
    }
}
