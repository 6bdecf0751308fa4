import HealthModel
import Testing

@Suite struct ShownFractionTests {
    @Test(arguments: [
        (0.963, "96.3"), (0.9629999999999999, "96.3"), (0.966666666, "96.67"), (1, "100"), (0, "0"), (0.29, "29"),
        (0.0005, "0.05"), (0.000512345, "0.05123"), (-0.07, "-7"),
    ])
    func hasTheDigitsThatAPersonExpects(_ fraction: Double, _ text: String) {
        #expect(Value.number(ShownFraction.percent(fraction)).double == Double(text))
    }

    @Test func onlyHealthKitsOwnPercentagesAreFractions() {
        let other: Value = [
            "HKQuantityTypeIdentifierOxygenSaturation": ["average": 0.96, "min": 0.94, "count": 5, "unit": "%"],
            "humidity": ["average": 45, "unit": "%"], "HKQuantityTypeIdentifierDietaryWater": ["sum": 0.5],
        ]
        #expect(
            ShownFraction.percent(other: other) == [
                "HKQuantityTypeIdentifierOxygenSaturation": ["average": 96.0, "min": 94.0, "count": 5, "unit": "%"],
                "humidity": ["average": 45, "unit": "%"], "HKQuantityTypeIdentifierDietaryWater": ["sum": 0.5],
            ])
        #expect(ShownFraction.percent(other: .null) == .null)
    }

    @Test func namedMembersAreConvertedAtEveryLevel() {
        let tree: Value = ["value": 0.5, "weight": 0.5, "hours": [["average": 0.25, "start": "x"]], "figure": .null]
        #expect(
            ShownFraction.percent(["value", "average", "figure"], in: tree)
                == ["value": 50.0, "weight": 0.5, "hours": [["average": 25.0, "start": "x"]], "figure": .null])
    }
}
