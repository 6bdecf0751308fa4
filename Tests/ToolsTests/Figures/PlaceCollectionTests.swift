import Figures
import HealthModel
import HealthStatistics
import Logging
import Testing

@Suite struct PlaceCollectionTests {
    private func read(_ text: String, radius: Double = 100) throws -> [PlaceCondition] {
        try PlaceCollection(geoJSON: Array(text.utf8), radius: radius).places
    }

    @Test func placesGoOutAndComeInAgain() throws {
        let places = [
            try PlaceCondition(name: "Home “2”", latitude: 52.5163, longitude: 13.3777, radius: 150),
            try PlaceCondition(name: "Rio", latitude: -22.9, longitude: -43.2),
        ]
        let text = PlaceCollection(places).geoJSON
        #expect(try read(text) == places)
        let first = try Value(json: text.utf8)["features"].array?.first
        // The longitude comes first (RFC 7946, 3.1.1).
        #expect(first?["geometry"]["coordinates"] == [13.3777, 52.5163] && first?["type"] == "Feature")
    }

    @Test func whatOthersWriteIsTaken() throws {
        let feature = """
            {"type": "Feature", "geometry": {"type": "Point", "coordinates": [13, 52, 34]}, "properties": {"name": "A", "color": 1}}
            """
        #expect(try read(feature, radius: 250).map(\.radius) == [250])
        let ended = feature.replacing("\"color\": 1", with: "\"radius\": 80")
        #expect(try read("{\"type\": \"FeatureCollection\", \"features\": [\(ended)]}").map(\.radius) == [80])
    }

    @Test(arguments: [
        ("{", "isn't JSON"), ("[]", "isn't GeoJSON"),
        (#"{"type": "FeatureCollection", "features": []}"#, "no features"),
        (#"{"type": "Feature", "geometry": {"type": "Polygon", "coordinates": []}}"#, "feature 1 isn't a point"),
        (#"{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}}"#, "feature 1 has no name"),
        (
            #"{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 98.7]}, "properties": {"name": "Secret"}}"#,
            "feature 1: a place's latitude"
        ),
    ])
    func whatIsWrongIsSaidByNumber(_ text: String, _ message: String) throws {
        let failure = try #require(throws: Failure.self) { try read(text) }
        #expect(failure.message.contains(message) && !failure.message.contains("Secret"), "\(failure.message)")
        #expect(!failure.message.contains("98.7"))
    }

    @Test func twoOfOneNameAreAMistake() throws {
        let feature = #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"A"}}"#
        let failure = try #require(throws: Failure.self) {
            try read(#"{"type":"FeatureCollection","features":[\#(feature),\#(feature)]}"#)
        }
        #expect(failure.message.contains("feature 2"))
    }
}
