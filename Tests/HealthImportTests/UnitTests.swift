import HealthImport
import HealthModel
import Testing

/// Numbers whose unit or value can't be right don't count.
@Suite struct UnitTests {
    private func record(_ type: String, unit: String?, _ value: String, more: String = "") -> String {
        let unit = unit.map { " unit=\"\($0)\"" } ?? ""
        return
            #"<Record type="HKQuantityTypeIdentifier\#(type)"\#(unit) value="\#(value)" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:15:00 +0200"\#(more)/>"#
    }

    @Test(arguments: [("BodyMass", "furlong"), ("StepCount", "km"), ("BodyMass", "m"), ("HeartRate", "kg")])
    func anotherKindOfUnitIsQuarantined(type: String, unit: String) throws {
        let (receiver, _) = try read(export(record(type, unit: unit, "5")))
        #expect(receiver.rows.isEmpty && receiver.quarantine.map(\.reason) == ["its unit isn't one for its type"])
    }

    @Test func withoutUnitOnlyPlainNumbersAreUnderstood() throws {
        let (receiver, _) = try read(
            export(
                record("StepCount", unit: nil, "5") + record("BodyMass", unit: nil, "70")
                    + record("New", unit: "x", "1")))
        #expect(receiver.rows.map(\.value) == [5, 1] && receiver.rows.map(\.unit) == ["count", "x"])
        #expect(receiver.quarantine.map(\.reason) == ["there is no unit"])
    }

    @Test func aSpreadIsKeptBesideAValueToo() throws {
        let spread = #" min="60" max="90""#
        let (receiver, _) = try read(export(record("HeartRate", unit: "count/min", "75", more: spread)))
        #expect(receiver.rows.first?.payload == #"{"average":75,"maximum":90,"minimum":60}"#)
        #expect(receiver.rows.first?.value == 75)
        let (other, _) = try read(
            export(record("HeartRate", unit: "count/min", "75", more: #" min="60" max="1e9""#)))
        #expect(other.rows.isEmpty && other.quarantine.map(\.reason) == ["the maximum is impossible"])
    }

    @Test func namesThatNobodyGivesAreQuarantined() throws {
        let long = String(repeating: "x", count: 300)
        let (receiver, _) = try read(export(record(long, unit: "count", "1") + record("New", unit: long, "1")))
        #expect(
            receiver.quarantine.map(\.reason) == [
                "the type's name is longer than 200 bytes", "the unit is longer than 100 bytes",
            ])
        #expect(receiver.rows.isEmpty)
    }

    @Test func numbersOfWorkoutsThatCannotBeTrueAreKeptApart() throws {
        let (receiver, summary) = try read(
            export(
                """
                <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="-5" durationUnit="min" totalDistance="1e308" totalDistanceUnit="km" totalEnergyBurned="5" totalEnergyBurnedUnit="furlong" startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:45:00 +0200">
                 <WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" average="140" minimum="-1" maximum="1e9" unit="count/min"/>
                 <WorkoutStatistics type="HKQuantityTypeIdentifierActiveEnergyBurned" sum="300" unit="Cal"/>
                </Workout>
                <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30" durationUnit="min" totalDistance="5" totalDistanceUnit="km" startDate="2025-03-30 09:15:00 +0200" endDate="2025-03-30 09:45:00 +0200"/>
                """))
        #expect(summary.workouts == 2 && summary.quarantined == 0 && summary.workoutValuesLeftOut == 5)
        let body = try Value(json: Array(receiver.rows[0].payload.utf8))
        #expect(body["durationSeconds"].isNull && body["totalDistanceMeters"].isNull)
        #expect(body["totalEnergyKilocalories"].isNull)
        #expect(body["leftOut"]["totalDistance"] == "1e308 km")
        #expect(body["leftOut"]["totalEnergyBurned"] == "5 furlong")
        #expect(body["leftOut"]["Workout duration"] == "-5 min")
        #expect(body["statistics"].array?.first?["average"] == 140)
        #expect(body["statistics"].array?.first?["minimum"].isNull == true)
        #expect(body["statistics"].array?.last?["sum"] == 300)
        let other = try Value(json: Array(receiver.rows[1].payload.utf8))
        #expect(other["leftOut"].isNull && other["totalDistanceMeters"] == 5000 && other["durationSeconds"] == 1800)
    }

    @Test func ringsOfImpossibleYearsAreQuarantined() throws {
        let days = ["1969-12-31", "1970-01-01", "1975-06-01", "2025-03-30"].map {
            #"<ActivitySummary dateComponents="\#($0)" appleExerciseTime="31"/>"#
        }
        let (receiver, summary) = try read(export(days.joined(separator: "\n")))
        #expect(summary.activitySummariesWithoutDay == 2 && receiver.summaries.map(\.date) == ["2025-03-30"])
        #expect(receiver.quarantine.map(\.reason) == ["dateComponents isn't a day that can have rings"])
    }

    @Test func aThousandMetadataAreEnough() throws {
        let entries = (0..<2000).map { #"<MetadataEntry key="k\#($0)" value="v"/>"# }.joined()
        let (receiver, _) = try read(export(steps("1").replacing("/>", with: ">") + entries + "</Record>" + steps("2")))
        #expect(
            receiver.rows.map(\.value) == [2]
                && receiver.quarantine.map(\.reason) == ["there are more than 1,000 metadata entries"])
    }
}
