import GenericStage
import HealthModel
import Testing

@Suite struct GenericHandlerTests {
    private static let quantity = "HKQuantityTypeIdentifier"
    private static let category = "HKCategoryTypeIdentifier"

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
