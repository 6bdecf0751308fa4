import HealthModel
import JSON

/// Where a person was at a given moment.
package struct LocationFix: Sendable, Equatable {
    package var time: Instant
    package var place: EarthPoint
    /// The accuracy in metres, as in `CLLocation.horizontalAccuracy`: negative where there is no position; NaN where it
    /// isn't known.
    package var accuracy: Double

    package init(time: Instant, place: EarthPoint, accuracy: Double = .nan) {
        (self.time, self.place, self.accuracy) = (time, place, accuracy)
    }

    package init(time: Instant, latitude: Double, longitude: Double, accuracy: Double = .nan) {
        self.init(time: time, place: EarthPoint(latitude: latitude, longitude: longitude), accuracy: accuracy)
    }
}

extension LocationFix {
    /// The types that fixes come from.
    package static let types: Set = [HealthType.locationIdentifier, HealthType.workoutIdentifier]

    /// All fixes of a slice, in order of time: location samples, and the tracks of workouts.
    package static func all(in samples: SamplePage) -> [LocationFix] {
        var fixes: [LocationFix] = []
        samples.payload.bytes.withUnsafeBytes { texts in
            for row in samples.rows(of: HealthType.locationIdentifier) where row < samples.payload.count {
                let text = UnsafeRawBufferPointer(rebasing: texts[samples.payload.range(row)])
                if let fix = LocationFix(text, time: samples.startOf(row)) { fixes.append(fix) }
            }
        }
        var tracks: [LocationFix] = []
        for row in samples.rows(of: HealthType.workoutIdentifier) {
            tracks += track(payload(samples, row)["routeSummary"]["track"])
        }
        let all = fixes.map { ($0, false) } + tracks.map { ($0, true) }
        return all.sorted { precedes($0, $1) }.map(\.0)
    }

    /// By time. Of fixes with equal times, those of tracks come last, then the more accurate ones, then the position
    /// decides, so that the same samples always give the same visits.
    private static func precedes(
        _ a: (fix: LocationFix, isOfTrack: Bool), _ b: (fix: LocationFix, isOfTrack: Bool)
    ) -> Bool {
        if a.fix.time != b.fix.time { return a.fix.time < b.fix.time }
        if a.isOfTrack != b.isOfTrack { return b.isOfTrack }
        let (first, second) = (a.fix.error, b.fix.error)
        if first != second { return first > second }
        let (one, other) = (a.fix.place.vector, b.fix.place.vector)
        return (one.x, one.y, one.z) < (other.x, other.y, other.z)
    }

    /// How far off the fix may be, in metres.
    private var error: Double { accuracy >= 0 ? accuracy : .infinity }

    private static func payload(_ samples: SamplePage, _ row: Int) -> Value {
        guard row < samples.payload.count, !samples.payload.isEmpty(row) else { return .null }
        // A payload that isn't JSON has no route.
        return (try? Value(json: samples.payload.bytes[samples.payload.range(row)])) ?? .null
    }

    /// - Parameter payload: `{latitude, longitude, horizontalAccuracy}`; there may be very many.
    private init?(_ payload: UnsafeRawBufferPointer, time: Instant) {
        var (latitude, longitude, accuracy) = (Double.nan, Double.nan, Double.nan)
        do throws(JSONScanError) {
            var scanner = JSONScanner(payload)
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                let value = try scanner.value()
                if name == "latitude" { latitude = value.double ?? .nan }
                if name == "longitude" { longitude = value.double ?? .nan }
                if name == "horizontalAccuracy" { accuracy = value.double ?? .nan }
            }
        } catch { return nil }
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        self.init(time: time, latitude: latitude, longitude: longitude, accuracy: accuracy)
    }

    /// The distance in metres between the fixes that represent a track's line, and the maximum number of fixes in one
    /// leg.
    private static let step = 25.0
    private static let legLimit = 2000
    /// How far off a track's own points may be, in metres, in addition to any shift from simplifying.
    private static let ownAccuracy = 10.0

    /// A stored track has few points, and its line passes close to all the others (`TrackSimplifier`). So if the line
    /// crosses a circle between two points, that counts as a crossing.
    private static func track(_ track: Value) -> [LocationFix] {
        guard let start = track["start"].string.flatMap({ InstantText.parse($0) }),
            let seconds = track["seconds"].array, let latitudes = track["latitude"].array,
            let longitudes = track["longitude"].array
        else { return [] }
        let accuracy = (track["toleranceMeters"].double ?? 0) + ownAccuracy
        var fixes: [LocationFix] = []
        for index in 0..<min(seconds.count, latitudes.count, longitudes.count) {
            guard let second = seconds[index].double, abs(second) < 1e8, let latitude = latitudes[index].double,
                let longitude = longitudes[index].double, abs(latitude) <= 90, abs(longitude) <= 180
            else { continue }
            let fix = LocationFix(
                time: start + .seconds(second), latitude: latitude, longitude: longitude, accuracy: accuracy)
            if let last = fixes.last { fixes += between(last, fix) }
            fixes.append(fix)
        }
        return fixes
    }

    private static func between(_ a: LocationFix, _ b: LocationFix) -> [LocationFix] {
        let parts = min(Int(a.place.distance(to: b.place) / step), legLimit)
        guard parts > 1, b.time > a.time else { return [] }
        return (1..<parts).map { part in
            let share = Double(part) / Double(parts)
            return LocationFix(
                time: a.time + .seconds((b.time - a.time).seconds * share),
                place: EarthPoint(between: a.place, and: b.place, at: share), accuracy: max(a.accuracy, b.accuracy))
        }
    }
}
