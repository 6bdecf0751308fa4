import HealthModel
import HealthStatistics
import Testing
import WorkoutsStage

@Suite struct WorkoutHeartTests {
    private static let rate = "HKQuantityTypeIdentifierHeartRate"
    private static let resting = "HKQuantityTypeIdentifierRestingHeartRate"

    /// An hour that begins at 10:00. The person turned 40 that day, so the maximum is 180.
    private func day(_ body: String = #"{"activity":"running"}"#) throws -> DayBuilder {
        var day = try DayBuilder()
        day.characteristics = ["dateOfBirth": "1985-06-01"]
        try day.add(
            HealthType.workoutIdentifier, "2025-06-01T10:00:00+02:00", "2025-06-01T11:00:00+02:00", .nan, payload: body)
        return day
    }

    private func add(_ times: [String], _ value: Double, source: String = "Watch", to day: inout DayBuilder) throws {
        for time in times { try day.add(Self.rate, "2025-06-01T\(time)+02:00", nil, value, source: source) }
    }

    private func rest(_ value: Double, at time: String = "07:00:00", in day: inout DayBuilder) throws {
        try day.add(Self.resting, "2025-06-01T\(time)+02:00", nil, value)
    }

    private func figure(_ day: DayBuilder) throws -> Value {
        try day.compute(WorkoutsHandler()).figures["workouts"]?.array?.first ?? .null
    }

    private func seconds(_ day: DayBuilder) throws -> [Double] {
        (try figure(day)["heartRateZones"].array ?? []).compactMap { $0["seconds"].double }
    }

    private func limits(_ day: DayBuilder) throws -> [Double] {
        (try figure(day)["heartRateZones"].array ?? []).compactMap { $0["to"].double }
    }

    @Test func fiveZonesOfTheReserve() throws {
        var day = try day()
        try rest(55, in: &day)
        // The latest resting rate of the day counts.
        try rest(60, at: "08:00:00", in: &day)
        try add(["10:00:00"], 131.9, to: &day)
        try add(["10:00:10"], 132, to: &day)
        try add(["10:00:30"], 150, to: &day)
        try add(["10:00:50"], 167, to: &day)
        try add(["10:01:00"], 200, to: &day)
        #expect(
            try figure(day)["heartRateZones"] == [
                ["zone": 1, "from": .null, "to": 132.0, "seconds": 10.0],
                ["zone": 2, "from": 132.0, "to": 144.0, "seconds": 20.0],
                ["zone": 3, "from": 144.0, "to": 156.0, "seconds": 20.0],
                ["zone": 4, "from": 156.0, "to": 168.0, "seconds": 10.0],
                ["zone": 5, "from": 168.0, "to": .null, "seconds": 60.0],
            ])
        #expect(try figure(day)["heartRate"]["minimum"] == 131.9 && figure(day)["heartRate"]["maximum"] == 200.0)
        #expect(
            try day.compute(WorkoutsHandler()).events.first?.payload["heartRateZones"] == figure(day)["heartRateZones"])
    }

    @Test func pausesAndWhatLiesOutsideDontCount() throws {
        var day = try day(
            """
            {"events":[{"type":"HKWorkoutEventTypePause","date":"2025-06-01T08:00:20Z"},
             {"type":"HKWorkoutEventTypeResume","date":"2025-06-01T08:00:30Z"}]}
            """)
        try rest(60, in: &day)
        try add(["09:59:59", "10:00:00", "10:30:00", "10:59:50", "11:00:00"], 150, to: &day)
        #expect(try seconds(day) == [0, 0, 50 + 60 + 10, 0, 0])
    }

    @Test func theWorkoutsOwnSourceCountsFirst() throws {
        var day = try day()
        try rest(60, in: &day)
        try add(["10:00:00"], 100, source: "Anna’s Apple Watch", to: &day)
        try add(["10:00:30"], 170, to: &day)
        #expect(try seconds(day) == [30, 0, 0, 0, 60])
        let seconds = [30.0, 60]
        #expect(try figure(day)["heartRate"]["average"] == .number((100 * seconds[0] + 170 * seconds[1]) / 90))
    }

    @Test func aStatisticCountsBeforeTheSamples() throws {
        var day = try day(
            #"{"statistics":[{"type":"HKQuantityTypeIdentifierHeartRate","average":142,"maximum":171,"unit":"count/min"}]}"#
        )
        try add(["10:00:00"], 100, to: &day)
        #expect(try figure(day)["heartRate"] == ["average": 142, "minimum": .null, "maximum": 171])
    }

    @Test func nothingIsGuessed() throws {
        let none = try day()
        #expect(try figure(none)["heartRate"] == .null && figure(none)["heartRateZones"] == .null)
        // Workouts without a resting rate, without an age, or without a heart rate.
        var noRest = try day()
        try add(["10:00:00"], 100, to: &noRest)
        #expect(try figure(noRest)["heartRateZones"] == .null && figure(noRest)["heartRate"]["average"] == 100.0)
        var noAge = noRest
        noAge.characteristics = [:]
        try rest(60, in: &noAge)
        #expect(try figure(noAge)["heartRateZones"] == .null)
        var noHeart = try day()
        try rest(60, in: &noHeart)
        #expect(try figure(noHeart)["heartRateZones"] == .null)
        // The next day's resting rate doesn't count for this day.
        var tomorrow = noRest
        try tomorrow.add(Self.resting, "2025-06-02T07:00:00+02:00", nil, 60)
        #expect(try figure(tomorrow)["heartRateZones"] == .null)
    }

    @Test func theConfigurationWins() throws {
        var day = try day()
        try rest(60, in: &day)
        try add(["10:00:00"], 100, to: &day)
        #expect(try limits(day) == [132, 144, 156, 168])
        // On the day before the birthday, the person is a year younger.
        day.configuration = ["dateOfBirth": "1985-06-02"]
        #expect(try limits(day) == [132.6, 144.7, 156.8, 168.9])
        day.configuration = ["maximumHeartRate": 200, "restingHeartRate": 50]
        #expect(try limits(day) == [140, 155, 170, 185])
        day.configuration = ["restingHeartRate": 50]
        #expect(try limits(day) == [128, 141, 154, 167])
        day.configuration = ["maximumHeartRate": 100, "restingHeartRate": 120]
        #expect(try figure(day)["heartRateZones"] == .null)
        day.configuration = ["dateOfBirth": "1.6.1985"]
        #expect(throws: WorkoutConfigurationError.dateOfBirth) { try figure(day) }
    }
}
