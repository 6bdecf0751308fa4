import Foundation
import HealthModel
import Inspection
import Testing

@Suite struct GPXTrackTests {
    private static let workout: Value = [
        "type": "running & more",
        "route": [
            "points": 3,
            "track": [
                "toleranceMeters": 5, "start": "2025-03-30T06:15:00Z", "seconds": [0, 60, 90],
                "latitude": [52.52777, 52.528, -0.000001], "longitude": [13.4, 13.41, -170.5],
                "elevation": [48.3, .null, -2],
            ],
        ],
    ]

    @Test func aRouteIsATrack() throws {
        let track = try #require(GPXTrack(Self.workout))
        let lines = track.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines[1] == #"<gpx version="1.1" creator="healthbus" xmlns="http://www.topografix.com/GPX/1/1">"#)
        #expect(lines.contains("<type>running &amp; more</type>"))
        let points = lines.filter { $0.hasPrefix("<trkpt") }
        #expect(
            points == [
                #"<trkpt lat="52.52777" lon="13.4"><ele>48.3</ele><time>2025-03-30T06:15:00Z</time></trkpt>"#,
                #"<trkpt lat="52.528" lon="13.41"><time>2025-03-30T06:16:00Z</time></trkpt>"#,
                #"<trkpt lat="-0.000001" lon="-170.5"><ele>-2</ele><time>2025-03-30T06:16:30Z</time></trkpt>"#,
            ])
        #expect(lines.last == "</gpx>")
    }

    @Test func withoutARouteThereIsNone() {
        #expect(GPXTrack(["type": "running", "route": .null]) == nil)
        #expect(
            GPXTrack(["route": ["track": ["start": "2025-03-30T06:15:00Z", "seconds": [0], "latitude": []]]]) == nil)
    }
}
