import Foundation
import HealthModel
import HealthStatistics
import TestSupport
import Testing

@Suite struct RouteSummaryTests {
    private typealias Point = TrackSimplifier.Point

    @Test func distancesAreThoseOfTheSphere() {
        func place(_ latitude: Double, _ longitude: Double) -> EarthPoint {
            EarthPoint(latitude: latitude, longitude: longitude)
        }
        let degree = EarthPoint.radius * .pi / 180
        #expect(abs(place(0, 0).distance(to: place(1, 0)) - degree) < 1e-3)
        #expect(abs(place(60, 0).distance(to: place(60, 1)) - 55_596.53) < 1)
        // Across the date line, across the pole, and to the other side of the earth.
        #expect(abs(place(0, 179.5).distance(to: place(0, -179.5)) - degree) < 1e-3)
        #expect(abs(place(89.5, 10).distance(to: place(89.5, -170)) - degree) < 1e-3)
        #expect(abs(place(20, 30).distance(to: place(-20, -150)) - EarthPoint.radius * .pi) < 1)
        // Berlin to Paris, by the haversine formula written out.
        let (a, b) = ((52.52, 13.405), (48.8566, 2.3522))
        let radians = Double.pi / 180
        let haversine =
            pow(sin((b.0 - a.0) * radians / 2), 2)
            + cos(a.0 * radians) * cos(b.0 * radians) * pow(sin((b.1 - a.1) * radians / 2), 2)
        let expected = 2 * EarthPoint.radius * asin(haversine.squareRoot())
        #expect(abs(place(a.0, a.1).distance(to: place(b.0, b.1)) - expected) < 1e-3)
    }

    @Test(
        arguments: [
            ([10, 20, 30], 20, 0), ([30, 20, 10], 0, 20), ([10, 11, 10, 11, 10], 0, 0), ([5], 0, 0),
            ([0, 50, 49, 51, 48.5, 100], 100, 0), ([0, 50, 40, 60], 70, 10), ([10, 12, 8, 30, 10], 22, 24),
        ] as [([Double], Double, Double)])
    func noiseIsNoClimb(elevations: [Double], up: Double, down: Double) {
        var gain = ElevationGain(threshold: 3)
        for elevation in elevations { gain.add(elevation) }
        #expect(gain.ascent == up && gain.descent == down)
    }

    @Test func withoutElevationsNothingIsKnown() {
        #expect(ElevationGain(threshold: 3).ascent == nil && ElevationGain(threshold: 3).descent == nil)
    }

    /// A climb in reverse is a descent, whatever the noise.
    @Test(arguments: UInt64(1)...20) func aWayBackIsTheWayTurnedRound(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var elevation = 100.0
        let ups = (0..<2000).map { _ in
            elevation += Double.random(in: -2...2, using: &random)
            return elevation
        }
        var forth = ElevationGain(threshold: 3)
        var back = ElevationGain(threshold: 3)
        for elevation in ups { forth.add(elevation) }
        for elevation in ups.reversed() { back.add(elevation) }
        let net = (ups.last ?? 0) - ups[0]
        #expect(abs(try #require(forth.ascent) - (try #require(forth.descent)) - net) <= 6)
        #expect(abs(try #require(forth.ascent) - (try #require(back.descent))) <= 6)
    }

    private static func walk(_ count: Int, step: Double, turn: Double, seed: UInt64) -> [Point] {
        var random = SeededRandom(seed: seed)
        var (latitude, longitude, heading) = (Double.random(in: -80...80, using: &random), 179.99, 0.0)
        return (0..<count).map { index in
            heading += Double.random(in: -turn...turn, using: &random)
            latitude += step * cos(heading) / 111_195
            longitude += step * sin(heading) / 111_195 / cos(latitude * .pi / 180)
            if longitude > 180 { longitude -= 360 }
            return Point(
                time: Instant(seconds: Int64(index)), latitude: latitude, longitude: longitude, elevation: 0)
        }
    }

    /// The greatest distance of any point from the track. Each point is compared with the leg that covers its time.
    private static func error(_ points: [Point], _ track: [Point]) -> Double {
        var worst = 0.0
        var leg = 0
        for point in points {
            while leg + 2 < track.count, track[leg + 1].time < point.time { leg += 1 }
            let place = EarthPoint(latitude: point.latitude, longitude: point.longitude)
            let from = EarthPoint(latitude: track[leg].latitude, longitude: track[leg].longitude)
            let next = track[min(leg + 1, track.count - 1)]
            let to = EarthPoint(latitude: next.latitude, longitude: next.longitude)
            worst = max(worst, place.distance(toLineFrom: from, to: to))
        }
        return worst
    }

    @Test(
        arguments: [
            (1, 1.0, 0.1), (2, 1, 0.1), (3, 3, 0.3), (100, 3, 0.3), (3600, 3, 0.05), (3600, 3, 3.0), (8192, 2, 0.3),
            (8193, 2, 0.3), (20_000, 2, 3.0), (150_000, 2, 0.2),
        ] as [(Int, Double, Double)])
    func everyPointIsNearTheTrack(count: Int, step: Double, turn: Double) throws {
        for seed in UInt64(1)...3 {
            let points = Self.walk(count, step: step, turn: turn, seed: seed)
            var simplifier = TrackSimplifier()
            for point in points { simplifier.add(point) }
            let (track, tolerance) = simplifier.track(tolerance: 5, limit: 256)
            #expect(track.count <= 256 && track.first == points.first && track.last == points.last)
            #expect(Self.error(points, track) <= tolerance + 1e-6)
            // The tolerance is tighter than a bound that would always hold.
            #expect(tolerance <= max(5, 40 * step * Double(count) / 256))
        }
    }

    @Test func aStraightWayIsTwoPoints() {
        var simplifier = TrackSimplifier()
        for index in 0..<5000 {
            simplifier.add(
                Point(
                    time: Instant(microseconds: Int64(index)), latitude: 50 + Double(index) * 1e-5, longitude: 8,
                    elevation: .nan))
        }
        #expect(simplifier.track(tolerance: 5, limit: 256).points.count == 2)
        #expect(TrackSimplifier().track(tolerance: 5, limit: 256).points.isEmpty)
    }

    @Test func onlyGoodPointsCount() throws {
        var route = RouteSummary()
        func add(_ latitude: Double, _ elevation: Double, _ accuracy: Double, _ vertical: Double = 3) {
            route.add(
                time: Instant(seconds: Int64(route.points)), latitude: latitude, longitude: 8, elevation: elevation,
                horizontalAccuracy: accuracy, verticalAccuracy: vertical)
        }
        #expect(route.distance == nil && route.value["track"].isNull)
        add(50, 100, 4)
        add(50.001, 500, 4, -1)
        add(51, 100, 51)
        add(51, 100, -1)
        add(91, 100, 4)
        add(.nan, 100, 4)
        add(50.002, 110, .nan, .nan)
        let value = route.value
        #expect(value["points"] == 7)
        #expect(value["distanceMeters"] == 222.4 && value["ascentMeters"] == 10.0 && value["descentMeters"] == 0.0)
        #expect(
            value["track"] == [
                "toleranceMeters": 5.0, "start": "1970-01-01T00:00:00Z", "seconds": [0, 6],
                "latitude": [50.0, 50.002], "longitude": [8.0, 8.0], "elevation": [100.0, 110.0],
            ])
    }
}
