import HealthModel

/// A circle on the earth that a person wants watched, like Core Location's `CLMonitor.CircularGeographicCondition`.
public struct PlaceCondition: Sendable, Equatable {
    /// The name chosen by the person, unique among their places: CLMonitor's identifier.
    package let name: String
    /// Degrees, WGS 84.
    package let latitude: Double
    package let longitude: Double
    /// Metres.
    package let radius: Double
    package let centre: EarthPoint

    package static let defaultRadius = 100.0
    static let radii = 20.0...100_000.0
    private static let nameLimit = 200

    /// - Throws: `PlaceError` for values that no place can have.
    package init(name: String, latitude: Double, longitude: Double, radius: Double = defaultRadius) throws {
        guard (1...Self.nameLimit).contains(name.utf8.count), name.unicodeScalars.contains(where: { $0 != " " }),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw PlaceError.name }
        guard abs(latitude) <= 90 else { throw PlaceError.latitude }
        guard abs(longitude) <= 180 else { throw PlaceError.longitude }
        guard Self.radii.contains(radius) else { throw PlaceError.radius }
        (self.name, self.latitude, self.longitude, self.radius) = (name, latitude, longitude, radius)
        centre = EarthPoint(latitude: latitude, longitude: longitude)
    }

    /// - Parameter value: `{latitude, longitude, radiusMeters}`; 100 m if the radius is left out.
    /// - Throws: `PlaceError`.
    package init(name: String, _ value: Value) throws {
        guard let latitude = value["latitude"].double else { throw PlaceError.latitude }
        guard let longitude = value["longitude"].double else { throw PlaceError.longitude }
        let radius = value["radiusMeters"]
        guard radius.isNull || radius.double != nil else { throw PlaceError.radius }
        try self.init(
            name: name, latitude: latitude, longitude: longitude, radius: radius.double ?? Self.defaultRadius)
    }

    /// Checks a condition and returns it in the form in which it is stored: `{latitude, longitude, radiusMeters}`.
    /// - Throws: `PlaceError`.
    public static func checked(name: String, _ value: Value) throws -> Value {
        try PlaceCondition(name: name, value).value
    }

    package var value: Value {
        ["latitude": .number(latitude), "longitude": .number(longitude), "radiusMeters": .number(radius)]
    }

    /// The places kept under `conditions`, by name.
    /// - Throws: `PlaceError` for an invalid one.
    static func all(in conditions: Value) throws -> [PlaceCondition] {
        try Value.inOrder(conditions.object ?? [:]).map { try PlaceCondition(name: $0.key, $0.value) }
    }
}

/// Why a place is invalid. The text reveals neither the place's name nor its position.
package enum PlaceError: String, Error, CustomStringConvertible {
    case name = "a place's name has 1 to 200 bytes and no control characters"
    case latitude = "a place's latitude is a number of degrees from -90 to 90"
    case longitude = "a place's longitude is a number of degrees from -180 to 180"
    case radius = "a place's radius is 20 to 100,000 metres"
    case option = "'gapHours' is 1 to 24; 'accuracyMeters', 'marginMeters' and 'settleSeconds' aren't negative"

    package var description: String { rawValue }
}
