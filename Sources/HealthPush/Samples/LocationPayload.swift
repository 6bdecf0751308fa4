import HealthModel
import JSON

/// A location's payload, from the `location` member of an item: `{latitude, longitude, horizontalAccuracy}`, in degrees
/// and metres as in `CLLocation`; everything else in it is kept unchanged.
enum LocationPayload {
    static func json(of span: JSONSpan?) throws(SampleProblem) -> [UInt8] {
        guard let span, span.kind == .object else {
            throw SampleProblem(reason: "a location is in 'location': {\"latitude\", \"longitude\"}")
        }
        var (latitude, longitude): (Double?, Double?) = (nil, nil)
        var isAccuracyOdd = false
        try span.eachMember { name, value in
            if name == "latitude" { latitude = value.double }
            if name == "longitude" { longitude = value.double }
            if name == "horizontalAccuracy" { isAccuracyOdd = !value.isNull && value.double == nil }
        }
        guard !isAccuracyOdd, let latitude, let longitude, abs(latitude) <= 90, abs(longitude) <= 180 else {
            throw SampleProblem(
                reason: "latitude, longitude or horizontalAccuracy isn't a number of degrees or metres")
        }
        return [UInt8](span.bytes)
    }
}
