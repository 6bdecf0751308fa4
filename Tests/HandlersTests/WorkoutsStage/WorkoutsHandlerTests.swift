import HealthModel
import HealthStatistics
import Testing
import WorkoutsStage

@Suite struct WorkoutsHandlerTests {
    static func output(_ payload: String, metadata: String = "", uuid: SampleID? = nil) throws -> DayOutput {
        var day = try DayBuilder()
        try day.add(
            HealthType.workoutIdentifier, "2025-06-01T10:00:00+02:00", "2025-06-01T11:00:00+02:00", .nan,
            payload: payload,
            metadata: metadata, uuid: uuid)
        return try day.compute(WorkoutsHandler())
    }

    /// The only activity of a workout that lists none itself.
    private static let itself: Value = [
        "activity": "running", "activityType": 37, "start": "2025-06-01T08:00:00Z", "end": "2025-06-01T09:00:00Z",
        "durationSeconds": 1800.0, "distanceMeters": 5000.5, "energyKilocalories": 400.0,
        "swimmingStrokes": .null,
    ]

    @Test func aWorkoutWithStatistics() throws {
        let output = try Self.output(
            """
            {"activity":"HKWorkoutActivityTypeRunning","durationSeconds":1800,"totalDistanceMeters":9,"totalEnergyKilocalories":9,
             "statistics":[{"type":"HKQuantityTypeIdentifierDistanceWalkingRunning","sum":5000.5,"unit":"m"},
                           {"type":"HKQuantityTypeIdentifierActiveEnergyBurned","sum":400,"unit":"kcal"}]}
            """, metadata: #"{"HKIndoorWorkout":"0"}"#, uuid: SampleID(high: 1, low: 2))
        let id = SampleID(high: 1, low: 0).description
        #expect(
            output.figures["workouts"] == [
                [
                    "id": .string(id), "activity": "running", "activityType": 37,
                    "activityIdentifier": "HKWorkoutActivityTypeRunning",
                    "start": "2025-06-01T08:00:00Z", "end": "2025-06-01T09:00:00Z",
                    "durationSeconds": 1800.0, "distanceMeters": 5000.5, "energyKilocalories": 400.0,
                    "activities": [Self.itself], "heartRate": .null, "heartRateZones": .null, "route": .null,
                ]
            ])
        #expect(
            output.events == [
                DayEvent(
                    id: id, kind: "workout",
                    payload: [
                        "id": .string(id), "type": "running", "activityType": 37,
                        "activityIdentifier": "HKWorkoutActivityTypeRunning",
                        "startDate": "2025-06-01T08:00:00Z", "endDate": "2025-06-01T09:00:00Z",
                        "duration": 1800.0, "distance": 5000.5, "activeEnergy": 400.0,
                        "activities": [Self.itself], "events": [], "heartRate": .null, "heartRateZones": .null,
                        "route": .null, "metadata": ["HKIndoorWorkout": "0"], "swimmingStrokes": .null,
                        "statistics": [
                            [
                                "type": "HKQuantityTypeIdentifierDistanceWalkingRunning", "sum": 5000.5, "unit": "m",
                            ],
                            ["type": "HKQuantityTypeIdentifierActiveEnergyBurned", "sum": 400, "unit": "kcal"],
                        ],
                        "healthkitUUID": .string(SampleID(high: 1, low: 2).description),
                    ])
            ])
    }

    @Test func totalsStandInForStatisticsAndAbsentIsNull() throws {
        let old = try Self.output(
            #"{"activity":"HKWorkoutActivityTypeYoga","totalDistanceMeters":0,"totalEnergyKilocalories":120}"#)
        let payload = try #require(old.events.first?.payload.object)
        #expect(payload["activeEnergy"] == 120.0 && payload["distance"] == .null && payload["metadata"] == .null)
        #expect(payload["duration"] == 3600.0 && payload["healthkitUUID"] == nil)
    }

    @Test(
        arguments: [
            (["Pause 08:10", "Resume 08:20"], 3000),
            (["Pause 08:10", "Pause 08:15", "Resume 08:20", "Resume 08:30"], 3000),
            (["Resume 08:05", "Pause 08:50"], 3000), (["Resume 08:20", "Pause 08:10"], 3000),
            (["Pause 07:00", "Resume 08:10"], 3000),
            (["Pause 08:50", "Resume 10:00"], 3000), (["MotionPaused 08:10", "Lap 08:20"], 3600), ([], 3600),
        ] as [([String], Double)])
    func pausesAreTakenOff(events: [String], seconds: Double) throws {
        let list = events.map { event in
            let parts = event.split(separator: " ")
            return #"{"type":"HKWorkoutEventType\#(parts[0])","date":"2025-06-01T\#(parts[1]):00Z"}"#
        }
        let body =
            #"{"activity":"HKWorkoutActivityTypeRunning","durationSeconds":0,"events":[\#(list.joined(separator: ","))]}"#
        #expect(try Self.output(body).events.first?.payload["duration"].double == seconds)
    }

    @Test(
        arguments: [
            ("HKWorkoutActivityTypeUnderwaterDiving", "underwaterDiving", 84, "HKWorkoutActivityTypeUnderwaterDiving"),
            ("81", "other", 81, "HKWorkoutActivityTypeOther"),
            ("HKWorkoutActivityTypeMoonWalking", "other", nil, "HKWorkoutActivityTypeMoonWalking"),
        ] as [(String, String, Int?, String)])
    func activitiesHaveNameAndNumber(given: String, name: String, number: Int?, identifier: String) throws {
        let output = try Self.output(#"{"activity":"\#(given)"}"#)
        let figure = try #require(output.figures["workouts"]?.array?.first)
        let event = try #require(output.events.first?.payload)
        #expect(figure["activity"].string == name && event["type"].string == name)
        for value in [figure, event] {
            #expect(value["activityType"] == Value(number) && value["activityIdentifier"].string == identifier)
        }
        #expect(figure["activities"].array?.first?["activityType"] == Value(number))
    }

    /// As in exports: no kind is printed, the last activity has no end, and the sums are also on the workout itself.
    @Test func swimBikeRunWithTransitions() throws {
        func activity(_ from: String, _ to: String?, _ type: String?, _ meters: Double) -> String {
            let end = to.map { #""end":"2025-06-01T\#($0):00Z","# } ?? ""
            let distance =
                type.map { #"{"type":"HKQuantityTypeIdentifierDistance\#($0)","sum":\#(meters),"unit":"m"},"# } ?? ""
            return
                #"{"uuid":"U","start":"2025-06-01T\#(from):00Z",\#(end)"statistics":[\#(distance){"type":"HKQuantityTypeIdentifierActiveEnergyBurned","sum":50,"unit":"kcal"}]}"#
        }
        let activities = [
            activity("08:00", "08:10", "Swimming", 500), activity("08:10", "08:12", nil, 0),
            activity("08:12", "08:40", "Cycling", 10_000), activity("08:40", "08:41", nil, 0),
            activity("08:42", nil, "WalkingRunning", 3000),
        ]
        let output = try Self.output(
            """
            {"activity":"HKWorkoutActivityTypeSwimBikeRun","durationSeconds":3500,"activities":[\(activities.joined(separator: ","))],
             "statistics":[{"type":"HKQuantityTypeIdentifierDistanceSwimming","sum":500,"unit":"m"},
               {"type":"HKQuantityTypeIdentifierDistanceCycling","sum":10000,"unit":"m"},
               {"type":"HKQuantityTypeIdentifierDistanceWalkingRunning","sum":3000,"unit":"m"},
               {"type":"HKQuantityTypeIdentifierActiveEnergyBurned","sum":250,"unit":"kcal"}],
             "events":[{"type":"HKWorkoutEventTypePause","date":"2025-06-01T08:50:00Z"},
               {"type":"HKWorkoutEventTypeResume","date":"2025-06-01T08:51:40Z"},
               {"type":"HKWorkoutEventTypeLap","date":"2025-06-01T08:55:00Z","durationSeconds":60}]}
            """)
        let event = try #require(output.events.first?.payload)
        #expect(event["type"] == "swimBikeRun" && event["activityType"] == 82)
        #expect(event["distance"] == 13_500.0 && event["activeEnergy"] == 250.0 && event["duration"] == 3500.0)
        let parts = try #require(event["activities"].array)
        #expect(
            parts.map { $0["activity"] } == ["swimming", "transition", "cycling", "transition", "running"])
        #expect(parts.map { $0["activityType"] } == [46, 83, 13, 83, 37])
        #expect(parts.map { $0["durationSeconds"] } == [600.0, 120.0, 1680.0, 60.0, 980.0])
        #expect(parts.map { $0["distanceMeters"] } == [500.0, .null, 10_000.0, .null, 3000.0])
        #expect(parts.allSatisfy { $0["energyKilocalories"] == 50.0 })
        #expect(parts.last?["start"] == "2025-06-01T08:42:00Z" && parts.last?["end"] == "2025-06-01T09:00:00Z")
        // Events other than pauses are also passed on.
        #expect(event["events"].array?.count == 3 && event["events"].array?.last?["durationSeconds"] == 60)
        #expect(event["events"].array?.last?["end"] == "2025-06-01T08:56:00Z")
        #expect(output.figures["workouts"]?.array?.first?["activities"] == event["activities"])
    }

    @Test func lapsAndStrokesOfASwimAreDelivered() throws {
        let strokes = "HKQuantityTypeIdentifierSwimmingStrokeCount"
        let output = try Self.output(
            """
            {"activity":"HKWorkoutActivityTypeSwimming","totalSwimmingStrokeCount":9,
             "statistics":[{"type":"\(strokes)","sum":40,"unit":"count"}],
             "activities":[{"start":"2025-06-01T08:00:00Z","statistics":[{"type":"\(strokes)","sum":38,"unit":"count"}]}],
             "events":[{"type":"HKWorkoutEventTypeLap","date":"2025-06-01T10:00:00+02:00","durationSeconds":30.5,
               "metadata":{"HKSwimmingStrokeStyle":"2"}}]}
            """)
        let event = try #require(output.events.first?.payload)
        #expect(event["swimmingStrokes"] == 40.0 && event["activities"].array?.first?["swimmingStrokes"] == 38.0)
        let lap = try #require(event["events"].array?.first)
        #expect(lap["start"] == "2025-06-01T08:00:00Z" && lap["end"] == "2025-06-01T08:00:30.5Z")
        #expect(lap["date"] == "2025-06-01T10:00:00+02:00" && lap["metadata"]["HKSwimmingStrokeStyle"] == "2")
        #expect(event["statistics"].array?.count == 1)
    }

    /// The steps of a structured workout are activities of the workout's kind, unless a kind is given.
    @Test func activitiesOfOneKind() throws {
        let body = """
            {"activity":"running","activities":[{"start":"2025-06-01T08:00:00Z","end":"2025-06-01T08:10:00Z","durationSeconds":540},
             {"start":"2025-06-01T08:10:00Z","activity":"HKWorkoutActivityTypeCooldown"}]}
            """
        let parts = try Self.output(body).events.first?.payload["activities"].array ?? []
        #expect(parts.map { $0["activity"] } == ["running", "cooldown"])
        #expect(parts.map { $0["durationSeconds"] } == [540.0, 3000.0])
    }

    @Test func aRouteWithoutItsTrackInTheDay() throws {
        let output = try Self.output(
            #"{"activity":"running","routeSummary":{"points":3,"distanceMeters":9.5,"track":{"latitude":[1]}}}"#)
        #expect(output.events.first?.payload["route"]["track"] == ["latitude": [1]])
        #expect(
            output.figures["workouts"]?.array?.first?["route"] == ["points": 3, "distanceMeters": 9.5])
    }

    @Test func belongsToTheDayOfItsStart() throws {
        var day = try DayBuilder("2025-06-02")
        try day.add(
            HealthType.workoutIdentifier, "2025-06-01T23:30:00+02:00", "2025-06-02T00:30:00+02:00", .nan, payload: "{}")
        #expect(try day.compute(WorkoutsHandler()) == DayOutput())
    }

    @Test func unreadableBodiesAreNamed() throws {
        #expect(throws: WorkoutError(id: SampleID(high: 1, low: 0).description)) { try Self.output("{") }
    }
}
