import HealthModel

/// A track with fewer points that stays near the one that came in, in memory that doesn't grow with it.
///
/// Douglas–Peucker by stretches: 8,192 points are simplified to a sixteenth, 8,192 of what is left again, and so on. A point that goes
/// lies within the pass's tolerance of the line that stays; what a later pass moves adds its own tolerance, since the distance to a line is
/// convex along each line that goes. So the sum of the passes' tolerances holds for every point.
package struct TrackSimplifier: Sendable {
    package struct Point: Sendable, Equatable {
        package var time: Instant
        /// Degrees.
        package var latitude: Double
        package var longitude: Double
        /// Metres; NaN where there is none.
        package var elevation: Double
        let place: EarthPoint

        package init(time: Instant, latitude: Double, longitude: Double, elevation: Double) {
            self.time = time
            self.latitude = latitude
            self.longitude = longitude
            self.elevation = elevation
            place = EarthPoint(latitude: latitude, longitude: longitude)
        }
    }

    static let stretch = 8192
    /// What a stretch becomes at most, and by which tolerance its simplification begins, metres.
    private static let kept = stretch / 16
    private static let fine = 1.0

    /// Points that have gone through as many passes as the index says; the later in the track the fewer.
    private var levels: [[Point]] = [[]]
    /// The largest tolerance of each level's passes.
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

    /// The track, and within how many metres of it every point that came in lies.
    /// - Parameters:
    ///   - tolerance: metres; doubled until `limit` points are enough.
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

    /// The points that stay: the ends, and whatever lies farther than `tolerance` from the line between two that stay. A loop, since a way
    /// that winds up evenly would go as deep as it has points.
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
