import HealthImport
import HealthModel
import TestSupport
import Testing

@Suite struct WorkoutTests {
    private static let dates = #"startDate="2025-03-30 08:00:00 +0200" endDate="2025-03-30 08:30:00 +0200""#

    @Test func aWorkoutIsARowWithItsBody() throws {
        let (receiver, summary) = try read(
            export(
                """
                <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30.5" durationUnit="min" totalDistance="5" totalDistanceUnit="km" totalEnergyBurned="418.4" totalEnergyBurnedUnit="kJ" sourceName="W" \(Self.dates)>
                 <MetadataEntry key="HKElevationAscended" value="418 cm"/>
                 <WorkoutEvent type="HKWorkoutEventTypePause" date="2025-03-30 08:10:00 +0200"/>
                 <WorkoutEvent type="HKWorkoutEventTypeSegment" date="2025-03-30 08:12:00 +0200" duration="2" durationUnit="min"><MetadataEntry key="n" value="1"/></WorkoutEvent>
                 <WorkoutActivity uuid="U" \(Self.dates) duration="10" durationUnit="min"><MetadataEntry key="m" value="x"/></WorkoutActivity>
                 <WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" \(Self.dates) sum="3" unit="mi"/>
                 <WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" \(Self.dates) average="150" minimum="120" maximum="180" unit="count/min"/>
                </Workout>
                """))
        #expect(summary.workouts == 1 && summary.records == 0)
        let row = try #require(receiver.rows.first)
        #expect(row.type == "HKWorkoutTypeIdentifier" && row.value.isNaN)
        #expect(row.metadata == #"{"HKElevationAscended":"418 cm"}"#)
        let body = try Value(json: Array(row.payload.utf8))
        #expect(body["activity"] == "HKWorkoutActivityTypeRunning" && body["durationSeconds"] == 1830)
        #expect(body["totalDistanceMeters"] == 5000)
        #expect(abs((body["totalEnergyKilocalories"].double ?? 0) - 100) < 1e-9)
        #expect(body["route"].isNull)
        #expect(
            body["events"]
                == [
                    ["type": "HKWorkoutEventTypePause", "date": "2025-03-30T06:10:00Z"],
                    [
                        "type": "HKWorkoutEventTypeSegment", "date": "2025-03-30T06:12:00Z", "durationSeconds": 120,
                        "metadata": ["n": "1"],
                    ],
                ])
        #expect(
            body["activities"]
                == [
                    [
                        "uuid": "U", "start": "2025-03-30T06:00:00Z", "end": "2025-03-30T06:30:00Z",
                        "durationSeconds": 600, "metadata": ["m": "x"],
                    ]
                ])
        let statistics = try #require(body["statistics"].array)
        #expect(abs((statistics[0]["sum"].double ?? 0) - 4828.032) < 1e-9 && statistics[0]["unit"] == "m")
        #expect(statistics[1]["average"] == 150 && statistics[1]["maximum"] == 180 && statistics[1]["sum"].isNull)
    }

    @Test func routesComeAfterTheRecordsWithTheirWorkout() throws {
        let folder = try TemporaryFolder()
        let gpx = """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b">
            <metadata><time>2025-03-30T06:00:00Z</time></metadata><trk><name>x</name><trkseg>
            <trkpt lon="13.4" lat="52.5"><ele>34.5</ele><time>2025-03-30T06:00:01Z</time><extensions><speed>2.5</speed><course>90</course><hAcc>4</hAcc><vAcc>3</vAcc></extensions></trkpt>
            <trkpt lon="13.5" lat="52.6"><time>2025-03-30T06:00:02Z</time></trkpt>
            <trkpt lon="13.5"><time>2025-03-30T06:00:03Z</time></trkpt>
            </trkseg></trk></gpx>
            """
        let document = export(
            """
            <Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="W" \(Self.dates)>
            <WorkoutRoute sourceName="W" \(Self.dates)><FileReference path="/workout-routes/route_a.gpx"/></WorkoutRoute>
            </Workout>
            """ + steps())
        let zip = ZipBytes([
            ("apple_health_export/workout-routes/route_a.gpx", gpx),
            ("apple_health_export/electrocardiograms/ecg_1.csv", "Name,X"),
            ("apple_health_export/export.xml", document),
        ])
        let receiver = CollectingReceiver()
        let summary = try ExportReader(path: folder.file("e.zip", zip.bytes)).read(into: receiver.take)
        #expect(receiver.rowsBeforeRoutes == 2)
        #expect(try Value(json: Array(receiver.rows[0].payload.utf8))["route"] == "/workout-routes/route_a.gpx")
        let route = try #require(receiver.routes.first)
        #expect(route.path == "/workout-routes/route_a.gpx" && route.firstPoint == 0)
        #expect(route.workout?.sourceName == "W" && route.workout?.start == InstantText.parse("2025-03-30T06:00:00Z"))
        #expect(route.latitude == [52.5, 52.6] && route.longitude == [13.4, 13.5] && route.speed[0] == 2.5)
        #expect(route.isLast)
        #expect(route.elevation[0] == 34.5 && route.elevation[1].isNaN && route.verticalAccuracy[0] == 3)
        #expect(summary.routes == 1 && summary.routePoints == 2 && summary.routePointsUnreadable == 1)
        #expect(summary.ignoredEntryCount == 0 && summary.quarantined == 1 && summary.damaged == nil)
    }

    /// A known route isn't read, but whoever stored it learns that the export contains it.
    @Test func aKnownRouteIsSkippedAndReported() throws {
        let folder = try TemporaryFolder()
        let point = #"<trkpt lon="13.4" lat="52.5"><time>2025-03-30T06:00:01Z</time></trkpt>"#
        let gpx = "<?xml version=\"1.0\"?><gpx><trk><trkseg>\(point)</trkseg></trk></gpx>"
        let zip = ZipBytes([
            ("apple_health_export/export.xml", export(steps())),
            ("apple_health_export/workout-routes/route_a.gpx", gpx),
        ])
        let path = try folder.file("e.zip", zip.bytes)
        let first = CollectingReceiver()
        _ = try ExportReader(path: path).read(into: first.take)
        #expect(first.routes.count == 1 && first.routePieces.count == 1 && first.knownRoutes.isEmpty)
        let again = CollectingReceiver()
        let summary = try ExportReader(path: path).read(into: again.take, known: first.routePieces)
        #expect(again.routes.isEmpty && again.routePieces.isEmpty && summary.routePoints == 1)
        #expect(again.knownRoutes.keys.map { $0 } == first.routePieces.keys.map { $0 })
        #expect(again.knownRoutes.values.map { $0 } == ["/workout-routes/route_a.gpx"])
    }

    @Test func aRouteInsideItsWorkoutIsRead() throws {
        let points = (0..<9000).map {
            #"<Location date="2025-03-30T06:00:00.\#(1000 + $0)Z" latitude="1" longitude="\#($0)" altitude="5" speed="2"/>"#
        }
        let (receiver, summary) = try read(
            export(
                """
                <Workout workoutActivityType="HKWorkoutActivityTypeWalking" sourceName="W" \(Self.dates)>
                <WorkoutRoute sourceName="W" \(Self.dates)>\(points.joined(separator: "\n"))</WorkoutRoute>
                </Workout>
                """))
        #expect(summary.workouts == 1 && summary.routes == 1 && summary.routePoints == 9000)
        #expect(receiver.routes.map(\.count) == [8192, 808] && receiver.routes.map(\.firstPoint) == [0, 8192])
        #expect(receiver.routes.map(\.isLast) == [false, true])
        #expect(Set(receiver.routes.map(\.path)) == ["inline/2025-03-30T06:00:00Z"])
        #expect(receiver.routes.allSatisfy { $0.workout?.sourceName == "W" })
        #expect(try Value(json: Array(receiver.rows[0].payload.utf8))["route"] == "inline/2025-03-30T06:00:00Z")
        #expect(receiver.routes[1].longitude.last == 8999 && receiver.routes[1].course[0].isNaN)
    }

    /// Of several routes the first one with points counts, as in files.
    @Test func aWorkoutHasOneRoute() throws {
        func route(_ hour: Int, _ longitudes: [Int]) -> String {
            let points = longitudes.map {
                #"<Location date="2025-03-30T06:00:00Z" latitude="1" longitude="\#($0)"/>"#
            }
            return #"<WorkoutRoute startDate="2025-03-30T0\#(hour):00:00Z">\#(points.joined())</WorkoutRoute>"#
        }
        let workout = #"<Workout workoutActivityType="HKWorkoutActivityTypeWalking" sourceName="W" \#(Self.dates)>"#
        let routes = [route(5, []), route(6, [1, 2]), route(7, [3])]
        let document = export(workout + routes.joined() + "</Workout>\n" + workout + route(8, [4]) + "</Workout>")
        let (receiver, summary) = try read(document)
        #expect(receiver.routes.map(\.longitude) == [[1, 2], [4]])
        #expect(receiver.routes.map(\.path) == ["inline/2025-03-30T06:00:00Z", "inline/2025-03-30T08:00:00Z"])
        #expect(summary.routePoints == 3 && summary.routePointsUnreadable == 1)
    }
}
