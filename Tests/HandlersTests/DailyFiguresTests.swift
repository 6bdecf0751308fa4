import BodyStage
import EnergyStage
import GenericStage
import HealthModel
import HeartRateStage
import SleepStage
import StepsStage
import Testing
import WorkoutsStage

@Suite struct DailyFiguresTests {
    static let quantity = "HKQuantityTypeIdentifier"
    static let category = "HKCategoryTypeIdentifier"

    @Test func withoutSamplesThereAreNoFigures() throws {
        let handlers: [any DayHandler] = [
            StepsHandler(), HeartRateHandler(), SleepHandler(), EnergyHandler(), WorkoutsHandler(), BodyHandler(),
            GenericHandler(),
        ]
        for handler in handlers { #expect(try DayBuilder().compute(handler) == DayOutput()) }
    }

    @Test func stepsAcrossMidnightAreSplit() throws {
        var day = try DayBuilder()
        try day.add(Self.quantity + "StepCount", "2025-05-31T23:50:00+02:00", "2025-06-01T00:10:00+02:00", 100)
        try day.add(Self.quantity + "StepCount", "2025-06-01T08:00:00+02:00", "2025-06-01T09:30:00+02:00", 900)
        try day.add(
            Self.quantity + "StepCount", "2025-06-01T08:00:00+02:00", "2025-06-01T09:30:00+02:00", 700, source: "iPhone"
        )
        let output = try day.compute(StepsHandler())
        #expect(output.figures == ["steps": 950.0])
        let hours = try #require(output.hourly["steps"]?.array)
        #expect(hours.count == 24)
        #expect(hours[0] == 50.0 && hours[8] == 600.0 && hours[9] == 300.0 && hours[10] == .null)

        day.configuration = ["sourceOrder": [.init(stringLiteral: Self.quantity + "StepCount"): ["iPhone"]]]
        #expect(try day.compute(StepsHandler()).figures == ["steps": 750.0])
    }

    @Test func hoursFollowTheClock() throws {
        var day = try DayBuilder("2025-10-26")
        try day.add(Self.quantity + "FlightsClimbed", "2025-10-26T02:30:00+01:00", nil, 3)
        let hours = try #require(try day.compute(StepsHandler()).hourly["flightsClimbed"]?.array)
        #expect(hours.count == 25 && hours[3] == 3.0)
    }

    @Test func heartRate() throws {
        var day = try DayBuilder()
        try day.add(Self.quantity + "HeartRate", "2025-05-31T23:59:59+02:00", "2025-06-01T00:01:00+02:00", 200)
        try day.add(Self.quantity + "RestingHeartRate", "2025-06-01T00:00:00+02:00", nil, 58)
        try day.add(Self.quantity + "HeartRate", "2025-06-01T01:00:00+02:00", "2025-06-01T01:00:10+02:00", 60)
        try day.add(Self.quantity + "HeartRate", "2025-06-01T02:00:00+02:00", "2025-06-01T02:00:30+02:00", 100)
        try day.add(
            Self.quantity + "HeartRateVariabilitySDNN", "2025-06-01T03:00:00+02:00", "2025-06-01T03:01:00+02:00", 40)
        try day.add(
            Self.quantity + "HeartRateVariabilitySDNN", "2025-06-01T04:00:00+02:00", "2025-06-01T04:02:00+02:00", 50)
        try day.add(Self.quantity + "RestingHeartRate", "2025-06-01T05:00:00+02:00", nil, 56)
        let output = try day.compute(HeartRateHandler())
        // Each stands for a minute after its end: (70 s · 60 + 90 s · 100) / 160 s.
        #expect(output.figures["heartRate"] == ["min": 60.0, "max": 100.0, "average": 82.5, "resting": 56.0])
        #expect(output.figures["hrvSDNNMilliseconds"] == 45.0)
        #expect(output.hourly["heartRate"]?.array?[2] == 100.0)
        #expect(output.hourly.keys.sorted() == ["heartRate", "heartRateMax", "heartRateMin"])

        var resting = try DayBuilder()
        try resting.add(Self.quantity + "RestingHeartRate", "2025-06-01T05:00:00+02:00", nil, 56)
        #expect(
            try resting.compute(HeartRateHandler()).figures == [
                "heartRate": ["min": .null, "max": .null, "average": .null, "resting": 56.0]
            ])
    }

    @Test func energyAndStandHours() throws {
        var day = try DayBuilder()
        try day.add(Self.category + "AppleStandHour", "2025-05-31T23:00:00+02:00", "2025-06-01T00:00:00+02:00", 0)
        try day.add(Self.category + "AppleStandHour", "2025-06-01T07:00:00+02:00", "2025-06-01T08:00:00+02:00", 1)
        try day.add(Self.category + "AppleStandHour", "2025-06-01T08:00:00+02:00", "2025-06-01T09:00:00+02:00", 0)
        try day.add(
            Self.category + "AppleStandHour", "2025-06-01T08:00:00+02:00", "2025-06-01T09:00:00+02:00", 0,
            source: "Other Watch")
        try day.add(Self.category + "AppleStandHour", "2025-06-01T09:00:00+02:00", "2025-06-01T10:00:00+02:00", 0)
        try day.add(Self.quantity + "ActiveEnergyBurned", "2025-06-01T10:00:00+02:00", "2025-06-01T10:01:00+02:00", 7.5)
        try day.add(Self.quantity + "BasalEnergyBurned", "2025-06-01T10:00:00+02:00", "2025-06-01T11:00:00+02:00", 70)
        try day.add(Self.quantity + "AppleExerciseTime", "2025-06-01T10:00:00+02:00", "2025-06-01T10:01:00+02:00", 1)
        #expect(
            try day.compute(EnergyHandler()).figures == [
                "activeEnergyKilocalories": 7.5, "basalEnergyKilocalories": 70.0, "exerciseMinutes": 1.0,
                "standHours": 2,
            ])
    }

    @Test func ringsThatCountMinutes() throws {
        var day = try DayBuilder()
        try day.add(Self.quantity + "AppleMoveTime", "2025-06-01T10:00:00+02:00", "2025-06-01T10:01:00+02:00", 1)
        try day.add(Self.quantity + "AppleStandTime", "2025-06-01T10:00:00+02:00", "2025-06-01T10:05:00+02:00", 5)
        try day.add(Self.quantity + "AppleStandTime", "2025-06-01T23:58:00+02:00", "2025-06-02T00:03:00+02:00", 5)
        #expect(try day.compute(EnergyHandler()).figures == ["moveMinutes": 1.0, "standMinutes": 7.0])
    }

    @Test func bodyHasTheDaysLatestAndItsMean() throws {
        var day = try DayBuilder()
        try day.add(Self.quantity + "BodyMass", "2025-05-31T21:00:00+02:00", nil, 90)
        try day.add(Self.quantity + "BodyMass", "2025-06-01T07:00:00+02:00", nil, 70.5)
        try day.add(Self.quantity + "Height", "2025-06-01T07:30:00+02:00", nil, 1.75)
        try day.add(Self.quantity + "BodyMassIndex", "2025-06-01T08:00:00+02:00", nil, 23)
        try day.add(Self.quantity + "BodyMassIndex", "2025-06-01T09:00:00+02:00", nil, 22)
        try day.add(Self.quantity + "BodyFatPercentage", "2025-06-01T10:00:00+02:00", nil, 0.25)
        try day.add(Self.quantity + "BodyMass", "2025-06-01T21:00:00+02:00", nil, 71.5)
        #expect(
            try day.compute(BodyHandler()).figures == [
                "bodyMassKilograms": 71.5, "bodyMassMeanKilograms": 71.0, "heightMeters": 1.75,
                "heightMeanMeters": 1.75, "bodyMassIndex": 22.0, "bodyMassIndexMean": 22.5, "bodyFatFraction": 0.25,
                "bodyFatMeanFraction": 0.25,
            ])
    }

    @Test func genericHasTheRest() throws {
        var day = try DayBuilder()
        try day.add(Self.quantity + "DietaryCaffeine", "2025-06-01T07:00:00+02:00", nil, 80)
        try day.add(Self.quantity + "DietaryCaffeine", "2025-06-01T08:00:00+02:00", nil, 60)
        try day.add(Self.quantity + "OxygenSaturation", "2025-06-01T08:00:00+02:00", nil, 0.97)
        try day.add(Self.quantity + "OfTomorrow", "2025-06-01T08:00:00+02:00", nil, 4)
        try day.add(Self.category + "MindfulSession", "2025-06-01T09:00:00+02:00", "2025-06-01T09:10:00+02:00", 0)
        try day.add(Self.category + "MindfulSession", "2025-06-01T09:05:00+02:00", "2025-06-01T09:20:00+02:00", 0)
        try day.add(Self.category + "Headache", "2025-06-01T09:10:00+02:00", nil, 2)
        try day.add("HKCorrelationTypeIdentifierFood", "2025-06-01T09:10:00+02:00", nil, .nan)
        try day.add(HealthType.workoutIdentifier, "2025-06-01T09:10:00+02:00", nil, .nan)
        let other = try #require(try day.compute(GenericHandler()).figures["other"]?.object)
        #expect(
            other == [
                Self.quantity + "DietaryCaffeine": ["sum": 140.0, "count": 2, "unit": "mg"],
                Self.quantity + "OxygenSaturation": [
                    "average": 0.97, "min": 0.97, "max": 0.97, "mostRecent": 0.97, "count": 1, "unit": "%",
                ],
                Self.quantity + "OfTomorrow": [
                    "average": 4.0, "min": 4.0, "max": 4.0, "mostRecent": 4.0, "count": 1, "unit": .null,
                ],
                Self.category + "MindfulSession": ["count": 2, "minutes": 20.0],
                Self.category + "Headache": ["count": 1],
                "HKCorrelationTypeIdentifierFood": ["count": 1],
            ])
        // A sample is counted on the day on which it begins, and its minutes on each.
        var counts: [Value] = []
        for date in ["2025-05-31", "2025-06-01", "2025-06-02"] {
            var night = try DayBuilder(date)
            try night.add(Self.category + "Headache", "2025-05-31T20:00:00+02:00", "2025-06-01T06:00:00+02:00", 2)
            counts.append(try night.compute(GenericHandler()).figures["other"]?[Self.category + "Headache"] ?? .null)
        }
        #expect(counts == [["count": 1, "minutes": 240.0], ["count": 0, "minutes": 360.0], .null])
        // Figures for a person's own types are aggregated in the way that the person has configured.
        var own = try DayBuilder()
        for (minute, value) in [("00", 1.0), ("10", 4.0), ("20", 2.0)] {
            try own.add("coffee", "2025-06-01T08:\(minute):00+02:00", nil, value)
        }
        try own.add("nap", "2025-06-01T13:00:00+02:00", "2025-06-01T13:25:00+02:00", .nan)
        for (aggregation, expected): (Value, Value) in [
            ("sum", ["sum": 7.0, "count": 3, "unit": "cups"]),
            ("latest", ["mostRecent": 2.0, "count": 3, "unit": "cups"]),
            ("average", ["average": .number(7.0 / 3), "min": 1.0, "max": 4.0, "count": 3, "unit": "cups"]),
            ("count", ["count": 3]),
        ] {
            own.characteristics = [
                "ownTypes": [
                    "coffee": ["aggregation": aggregation, "unit": "cups"],
                    "nap": ["aggregation": "count", "unit": ""],
                ]
            ]
            let figures = try own.compute(GenericHandler()).figures["other"]
            #expect(figures == ["coffee": expected, "nap": ["count": 1, "minutes": 25.0]], "\(aggregation)")
        }
        // Numbers in different units can't be added, so the samples are only counted.
        var mixed = try DayBuilder()
        for (minute, value, unit) in [("00", 1.0, "cups"), ("10", 300.0, "mL"), ("20", 5.0, "")] {
            try mixed.add("coffee", "2025-06-01T08:\(minute):00+02:00", nil, value, unit: unit)
        }
        for (aggregation, member) in [("sum", "sum"), ("latest", "mostRecent"), ("average", "max")] {
            mixed.characteristics = ["ownTypes": ["coffee": ["aggregation": .string(aggregation), "unit": "cups"]]]
            let coffee = try #require(try mixed.compute(GenericHandler()).figures["other"]?["coffee"])
            #expect(coffee[member] == 1.0 && coffee["count"] == 3 && coffee["unit"] == "cups", "\(aggregation)")
        }
        // If a stack has no handler for a type, `generic` gets that type too, so that nothing is dropped silently.
        try day.add(Self.quantity + "StepCount", "2025-06-01T09:10:00+02:00", nil, 10)
        let all = try #require(try day.compute(GenericHandler()).figures["other"]?.object)
        #expect(all[Self.quantity + "StepCount"] == ["sum": 10.0, "count": 1, "unit": "count"])
    }
}
