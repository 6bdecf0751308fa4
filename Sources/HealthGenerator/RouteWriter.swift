import Glibc
import HealthModel

/// Writes the routes of workouts: a way round that begins and ends near home, as long as the workout's distance.
struct RouteWriter {
    let person: Person

    /// A GPX 1.1 document; times are UTC.
    func write(_ plan: DayPlan, _ text: inout ExportText) {
        guard let trace = WorkoutTrace(plan, person), let length = trace.meters.last else { return }
        var random = SeededRandom(seed: person.seed, subject: 2000, day: plan.day.number)
        var home = SeededRandom(seed: person.seed, subject: 2001, day: 0)
        let latitude = 52.52 + home.uniform(-0.05, 0.05)
        let longitude = 13.405 + home.uniform(-0.08, 0.08)
        let way = RoundTrip(meters: length, active: trace.workout.end - trace.workout.start, &random)
        text.append(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" creator="Apple Health Export" xmlns="http://www.topografix.com/GPX/1/1">
              <trk>
                <trkseg>

            """ as StaticString)
        // What a receiver is off by, which changes slowly.
        var (north, east) = (0.0, 0.0)
        for index in trace.meters.indices {
            let meters = trace.meters[index]
            let next = trace.meters[min(index + 1, trace.meters.count - 1)]
            let speed = (next - meters) / Double(WorkoutTrace.step)
            if speed == 0, index > 0, index + 1 < trace.meters.count { continue }
            north = 0.92 * north + random.uniform(-0.35, 0.35)
            east = 0.92 * east + random.uniform(-0.35, 0.35)
            let (place, heading) = way.at(meters)
            text.append("      <trkpt lon=\"")
            // One degree of latitude is about 111.2 km, one of longitude 67.7 km.
            text.append(degrees: longitude + (place.east + east) / 67_680)
            text.append("\" lat=\"")
            text.append(degrees: latitude + (place.north + north) / 111_195)
            text.append("\"><ele>")
            text.append(number: (trace.elevation[index] * 100).rounded() / 100)
            let time = InstantText.iso8601(Instant(seconds: trace.start + Int64(index) * WorkoutTrace.step))
            text.append("</ele><time>\(time)</time><extensions><speed>")
            text.append(number: (speed * 1000).rounded() / 1000)
            text.append("</speed><course>")
            text.append(integer: (Int((atan2(heading.east, heading.north) * 180 / .pi).rounded()) + 360) % 360)
            text.append("</course><hAcc>4</hAcc><vAcc>3</vAcc></extensions></trkpt>\n")
            text.flushIfLarge()
        }
        text.append("    </trkseg>\n  </trk>\n</gpx>\n")
    }
}

/// A closed way of straight pieces that turn a little at each corner.
private struct RoundTrip {
    typealias Vector = (north: Double, east: Double)

    private var corners: [Vector] = [(0, 0)]
    /// Metres along the way at each corner.
    private var marks: [Double] = [0]

    /// - Parameters:
    ///   - meters: its length.
    ///   - active: the seconds that it takes, for the length of its pieces: a curve isn't cut short by the time
    ///     between two points.
    init(meters: Double, active: Int64, _ random: inout SeededRandom) {
        let piece = max(110, meters / Double(max(1, active)) * 55)
        let count = max(8, Int(meters / piece))
        let side = random.chance(0.5) ? 1.0 : -1
        var heading: Vector = Self.turned((1, 0), random.uniform(-3, 3))
        var ends: [Vector] = []
        var place: Vector = (0, 0)
        let turn = side * 3.141592653589793 / Double(count)
        for _ in 0..<count {
            let bent = Self.turned(heading, random.uniform(-0.22, 0.22))
            let length = random.uniform(0.7, 1.3)
            place = (place.north + bent.north * length, place.east + bent.east * length)
            ends.append(place)
            // Half the angle, as its tangent, which a small angle nearly equals.
            heading = Self.turned(heading, turn * (1 + turn * turn / 3))
        }
        // Every corner takes its part of what is missing to the beginning.
        for index in ends.indices {
            let part = Double(index + 1) / Double(count)
            ends[index] = (ends[index].north - place.north * part, ends[index].east - place.east * part)
        }
        corners += ends
        for index in 1..<corners.count {
            marks.append(marks[index - 1] + Self.distance(corners[index - 1], corners[index]))
        }
        let scale = meters * 1.003 / (marks.last ?? 1)
        corners = corners.map { ($0.north * scale, $0.east * scale) }
        marks = marks.map { $0 * scale }
    }

    /// The place at a distance from the start, and the direction, with a length of 1.
    func at(_ meters: Double) -> (place: Vector, heading: Vector) {
        let along = meters * 1.003
        // What is beyond the last mark is on the last stretch.
        let high = (1..<marks.count - 1).firstPlace(behind: { marks[$0] <= along })
        let low = high - 1
        let length = max(1e-9, marks[high] - marks[low])
        let heading = (
            north: (corners[high].north - corners[low].north) / length,
            east: (corners[high].east - corners[low].east) / length
        )
        let rest = along - marks[low]
        return ((corners[low].north + heading.north * rest, corners[low].east + heading.east * rest), heading)
    }

    /// Turned by twice the angle whose tangent this is. Sine and cosine have other last digits on other machines.
    private static func turned(_ vector: Vector, _ tangent: Double) -> Vector {
        let square = tangent * tangent
        let (cosine, sine) = ((1 - square) / (1 + square), 2 * tangent / (1 + square))
        return (vector.north * cosine - vector.east * sine, vector.north * sine + vector.east * cosine)
    }

    private static func distance(_ a: Vector, _ b: Vector) -> Double {
        let (north, east) = (b.north - a.north, b.east - a.east)
        return (north * north + east * east).squareRoot()
    }
}

extension ExportText {
    /// Writes six decimal places, for positions well away from 0.
    mutating func append(degrees: Double) {
        let millionths = Int((degrees * 1_000_000).rounded())
        append(integer: millionths / 1_000_000)
        append(".")
        let rest = abs(millionths % 1_000_000)
        appendTwo(rest / 10_000)
        appendTwo(rest / 100)
        appendTwo(rest)
    }
}
