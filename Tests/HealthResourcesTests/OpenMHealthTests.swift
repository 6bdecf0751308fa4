import HealthModel
import HealthResources
import Testing

/// How samples and documents are represented in Open mHealth.
@Suite struct OpenMHealthTests {
    private func point(_ sample: MadeSample, source: String = "Watch") throws -> Value? {
        var bytes: [UInt8] = []
        let page = OpenMHealthPage(madePage([sample], source: source), user: "me")
        guard page.append(0, to: &bytes) else {
            #expect(bytes.isEmpty)
            return nil
        }
        return try Value(json: bytes)
    }

    @Test func aHeartRate() throws {
        let made = try point(.init(type: "HKQuantityTypeIdentifierHeartRate", unit: "count/min", value: 61.5))
        let header: Value = [
            "id": "0195e621-9c60-8abc-8def-012345678900", "creation_date_time": "2025-03-30T08:15:00Z",
            "schema_id": ["namespace": "omh", "name": "heart-rate", "version": "2.0"],
            "acquisition_provenance": ["source_name": "Watch", "modality": "sensed"], "user_id": "me",
        ]
        let body: Value = [
            "heart_rate": ["value": 61.5, "unit": "beats/min"],
            "effective_time_frame": ["date_time": "2025-03-30T08:15:00Z"],
        ]
        #expect(made == ["header": header, "body": body])
    }

    @Test func restingIsAtRest() throws {
        let made = try point(.init(type: "HKQuantityTypeIdentifierRestingHeartRate", unit: "count/min", value: 58))
        #expect(made?["body"]["temporal_relationship_to_physical_activity"] == "at rest")
    }

    /// The schema for steps requires a time interval.
    @Test func stepsOfAMomentHaveAnIntervalToo() throws {
        let made = try point(
            .init(type: "HKQuantityTypeIdentifierStepCount", unit: "count", value: 9, flags: .userEntered), source: "")
        let interval: Value = [
            "start_date_time": "2025-03-30T08:15:00Z", "end_date_time": "2025-03-30T08:15:00Z",
        ]
        #expect(made?["body"]["effective_time_frame"] == ["time_interval": interval])
        #expect(
            made?["header"]["acquisition_provenance"] == ["source_name": "unknown", "modality": "self-reported"])
    }

    @Test func whatHasNoSchemaOrNoNumberIsLeftOut() throws {
        #expect(try point(.init(type: "HKQuantityTypeIdentifierVO2Max", unit: "mL/min·kg", value: 44)) == nil)
        #expect(
            try point(.init(type: "HKQuantityTypeIdentifierHeartRate", unit: "count/min", value: .nan)) == nil)
        #expect(OpenMHealthPage.has("HKQuantityTypeIdentifierBodyMass"))
        #expect(!OpenMHealthPage.has("HKCategoryTypeIdentifierSleepAnalysis"))
    }

    /// Samples and documents in the form that a reader gets, with whole numbers as integers.
    private func read(_ points: [Value]) throws -> [Value] {
        try points.map { try Value(json: Array($0.json().utf8)) }
    }

    @Test func aDayLastsFromItsFirstHourToTheEndOfItsLast() throws {
        let day: Value = [
            "date": "2025-03-30", "steps": 7012, "activeEnergyKilocalories": .null,
            "heartRate": ["average": 66, "min": 49, "max": .null],
            "hours": ["start": ["2025-03-30T00:00:00+01:00", "2025-03-30T23:00:00+02:00"]],
        ]
        let points = try read(OpenMHealth(user: "me").day(day, id: "2025-03-30"))
        let names = points.map { $0["header"]["schema_id"]["name"].string }
        #expect(names == ["step-count", "heart-rate", "heart-rate"])
        let interval: Value = [
            "start_date_time": "2025-03-29T23:00:00Z", "end_date_time": "2025-03-30T22:00:00Z",
        ]
        let body: Value = [
            "step_count": ["value": 7012, "unit": "steps"], "descriptive_statistic": "sum",
            "effective_time_frame": ["time_interval": interval],
        ]
        #expect(points.first?["body"] == body)
        #expect(OpenMHealth(user: "me").day(["date": "2025-03-30", "steps": 1], id: "2025-03-30").isEmpty)
    }

    /// According to Open mHealth's schemas, the id in a header is unique among all data points, no matter whose they
    /// are.
    @Test func eachPointHasAUUIDOfItsOwn() throws {
        let day: Value = [
            "steps": 7012, "heartRate": ["average": 66, "min": 49],
            "hours": ["start": ["2025-03-30T00:00:00+01:00", "2025-03-30T23:00:00+02:00"]],
        ]
        let night: Value = ["start": "2025-03-29T22:00:00Z", "end": "2025-03-30T05:30:00Z", "asleepMinutes": 411]
        let all = ["me", "anna"].flatMap { user in
            ["2025-03-30", "2025-03-31"].flatMap { id in
                OpenMHealth(user: user).day(day, id: id) + OpenMHealth(user: user).night(night, id: id)
            }
        }
        let ids = all.compactMap { $0["header"]["id"].string }
        #expect(ids.count == 20 && Set(ids).count == 20)
        #expect(ids.allSatisfy { $0.count == 36 && SampleID($0) != nil })
        #expect(
            OpenMHealth(user: "me").day(day, id: "2025-03-30") == OpenMHealth(user: "me").day(day, id: "2025-03-30"))
    }

    @Test func aNightIsAnEpisodeAndADuration() throws {
        let night: Value = [
            "start": "2025-03-29T22:00:00Z", "end": "2025-03-30T05:30:00Z", "asleepMinutes": 411,
            "latencyMinutes": .null, "main": true, "efficiency": 0.914, "source": "Watch",
        ]
        let points = try read(OpenMHealth(user: "me").night(night, id: "n"))
        #expect(points.map { $0["header"]["schema_id"]["name"].string } == ["sleep-episode", "sleep-duration"])
        let body = points.first?["body"]
        #expect(body?["is_main_sleep"] == true && body?["total_sleep_time"] == ["value": 411, "unit": "min"])
        #expect(body?["sleep_maintenance_efficiency_percentage"] == ["value": 91.4, "unit": "%"])
        #expect(body?["latency_to_sleep_onset"].isNull == true)
    }

    @Test func aWorkout() throws {
        let workout: Value = [
            "type": "running", "startDate": "2025-03-30T08:00:00Z", "endDate": "2025-03-30T08:50:00Z",
            "distance": 10_040,
        ]
        let points = try read(OpenMHealth(user: "me").workout(workout, id: "w"))
        #expect(points.first?["body"]["distance"] == ["value": 10_040, "unit": "m"])
        #expect(OpenMHealth(user: "me").workout(["type": "running"], id: "w").isEmpty)
    }
}
