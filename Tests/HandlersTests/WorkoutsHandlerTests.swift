import HealthModel
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
                    "id": .string(id), "activity": "running", "start": "2025-06-01T08:00:00Z",
                    "end": "2025-06-01T09:00:00Z",
                    "durationSeconds": 1800.0, "distanceMeters": 5000.5, "energyKilocalories": 400.0,
                ]
            ])
        #expect(
            output.events == [
                DayEvent(
                    id: id, kind: "workout",
                    payload: [
                        "id": .string(id), "type": "running", "startDate": "2025-06-01T08:00:00Z",
                        "endDate": "2025-06-01T09:00:00Z",
                        "duration": 1800.0, "distance": 5000.5, "activeEnergy": 400.0,
                        "metadata": ["HKIndoorWorkout": "0"],
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
