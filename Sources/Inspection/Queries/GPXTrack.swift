import Client
import Configuration
import HealthModel
import JSON
import Logging
import Protocol

/// A workout's route as a GPX 1.1 document. Pure.
///
/// The route is the simplified one that is delivered: at most 256 points, such that every measured point is within
/// `toleranceMeters` of it.
package struct GPXTrack {
    private let activity: String
    private let points: [Point]
    private let tolerance: Double?

    private struct Point {
        var latitude: Double
        var longitude: Double
        var elevation: Double?
        var time: Instant
    }

    /// - Parameter workout: the workout as delivered; the result is nil if it has no route.
    package init?(_ workout: Value) {
        let track = workout["route"]["track"]
        guard let start = track["start"].string.flatMap({ InstantText.parse($0) }),
            let seconds = track["seconds"].array,
            let latitudes = track["latitude"].array, let longitudes = track["longitude"].array,
            seconds.count == latitudes.count, seconds.count == longitudes.count, !seconds.isEmpty
        else { return nil }
        let elevations = track["elevation"].array ?? []
        points = seconds.indices.compactMap { index in
            guard let second = seconds[index].double, let latitude = latitudes[index].double,
                let longitude = longitudes[index].double
            else { return nil }
            return Point(
                latitude: latitude, longitude: longitude,
                elevation: elevations.indices.contains(index) ? elevations[index].double : nil,
                time: start + .microseconds(Int64(second * 1_000_000)))
        }
        activity = workout["type"].string ?? "other"
        tolerance = track["toleranceMeters"].double
    }

    /// XML in UTF-8.
    package var text: String {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" creator="healthbus" xmlns="http://www.topografix.com/GPX/1/1">

            """
        if let first = points.first {
            text += "  <metadata><time>\(InstantText.iso8601(first.time))</time></metadata>\n"
        }
        text += "  <trk>\n"
        if let tolerance { text += "    <desc>simplified to within \(Self.decimal(tolerance)) m</desc>\n" }
        text += "    <type>\(XMLText.escaped(activity))</type>\n    <trkseg>\n"
        for point in points {
            let place = "lat=\"\(Self.decimal(point.latitude))\" lon=\"\(Self.decimal(point.longitude))\""
            let elevation = point.elevation.map { "<ele>\(Self.decimal($0))</ele>" } ?? ""
            text += "      <trkpt \(place)>\(elevation)<time>\(InstantText.iso8601(point.time))</time></trkpt>\n"
        }
        return text + "    </trkseg>\n  </trk>\n</gpx>\n"
    }

    /// Without an exponent, which XML decimals don't allow.
    private static func decimal(_ number: Double) -> String {
        var text: [UInt8] = []
        text.append(json: number.rounded(decimals: 6))
        return String(decoding: text, as: UTF8.self)
    }
}

extension GPXTrack {
    /// - Parameter id: a workout's id, or enough of its beginning to be unambiguous.
    /// - Throws: `Failure` if there is no such workout, if there are several, or if it has no route.
    package static func of(workout id: String, _ stack: Stack, _ reader: StackReader, user: String?) throws -> GPXTrack
    {
        var found: [String: Value] = [:]
        for handler in stack.configuration.handlers
        where handler.manifest.produces.contains(where: { $0.hasPrefix("events.") }) {
            try reader.forEachRow(handler, topic: "events.") { row in
                found[row.key] = nil
                guard user == nil || row.user == user, let event = row.body?.read(EventBody.self),
                    event.kind == EventRows.Kind.workout.rawValue, event.id.lowercased().hasPrefix(id.lowercased())
                else { return }
                found[row.key] = event.event
            }
        }
        guard let workout = found.values.first else {
            throw Failure("no workout has the id \(id)", hint: "'healthbus workouts' lists them")
        }
        guard found.count == 1 else {
            throw Failure.usage("\(found.count) workouts have ids that begin with \(id)", hint: "give more of the id")
        }
        guard let track = GPXTrack(workout) else {
            throw Failure("that workout has no route", hint: "'healthbus workouts' shows which have one")
        }
        return track
    }
}
