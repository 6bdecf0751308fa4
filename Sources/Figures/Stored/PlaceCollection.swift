import HealthModel
import HealthStatistics
import Logging

/// Places as GeoJSON (RFC 7946): points with `name` and `radiusMeters` among their properties. Pure.
package struct PlaceCollection {
    package let places: [PlaceCondition]

    package init(_ places: [PlaceCondition]) { self.places = places }

    /// - Parameters:
    ///   - text: a feature or a collection of them.
    ///   - radius: in metres, for features that don't specify one.
    /// - Throws: `Failure` with the number of the feature, but never with its name or place.
    package init(geoJSON text: [UInt8], radius: Double) throws(Failure) {
        let document: Value
        do { document = try Value(json: text) } catch { throw Failure("the file isn't JSON: \(error)") }
        let features: [Value]
        switch document["type"].string {
        case "FeatureCollection": features = document["features"].array ?? []
        case "Feature": features = [document]
        default:
            throw Failure("the file isn't GeoJSON", hint: "it begins with {\"type\": \"FeatureCollection\"")
        }
        var found: [String: PlaceCondition] = [:]
        for (index, feature) in features.enumerated() {
            let place = try Self.place(feature, number: index + 1, radius: radius)
            guard found.updateValue(place, forKey: place.name) == nil else {
                throw Failure("feature \(index + 1) has the name of an earlier one", hint: "each place needs its own")
            }
        }
        guard !found.isEmpty else { throw Failure("the file has no features", hint: "each place is one") }
        places = found.values.sorted { $0.name < $1.name }
    }

    private static func place(_ feature: Value, number: Int, radius: Double) throws(Failure) -> PlaceCondition {
        let (geometry, properties) = (feature["geometry"], feature["properties"])
        let numbers = (geometry["coordinates"].array ?? []).compactMap(\.double)
        guard geometry["type"].string == "Point", numbers.count >= 2 else {
            throw Failure("feature \(number) isn't a point", hint: "a place is a point with a radius around it")
        }
        let own = [properties["radiusMeters"], properties["radius"]].first { !$0.isNull }
        guard let name = properties["name"].string, own == nil || own?.double != nil else {
            throw Failure(
                "feature \(number) has no name, or its radius isn't a number",
                hint: "give it \"name\" and \"radiusMeters\" under \"properties\"")
        }
        do {
            // Longitude first.
            return try PlaceCondition(
                name: name, latitude: numbers[1], longitude: numbers[0], radius: own?.double ?? radius)
        } catch { throw Failure("feature \(number): \(error)") }
    }

    package var geoJSON: String {
        let features = places.map { place -> Value in
            [
                "type": "Feature",
                "geometry": ["type": "Point", "coordinates": [.number(place.longitude), .number(place.latitude)]],
                "properties": ["name": .string(place.name), "radiusMeters": .number(place.radius)],
            ]
        }
        return Value.object(["type": "FeatureCollection", "features": .array(features)]).json(pretty: true)
    }
}
