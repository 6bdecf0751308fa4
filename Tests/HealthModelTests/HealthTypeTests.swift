import HealthModel
import Testing

@Suite struct HealthTypeTests {
    @Test(
        arguments: [
            ("HKQuantityTypeIdentifierStepCount", .quantity, "count", .cumulative),
            ("HKQuantityTypeIdentifierHeartRate", .quantity, "count/min", .temporallyWeighted),
            ("HKQuantityTypeIdentifierRestingHeartRate", .quantity, "count/min", .arithmetic),
            ("HKQuantityTypeIdentifierHeadphoneAudioExposure", .quantity, "dBASPL", .equivalentLevel),
            ("HKCategoryTypeIdentifierSleepAnalysis", .category, "", .none),
            ("HKCorrelationTypeIdentifierBloodPressure", .correlation, "", .none),
            ("HKWorkoutTypeIdentifier", .workout, "", .none),
            ("HKDataTypeSleepDurationGoal", .other, "hr", .none),
        ] as [(String, HealthType.Kind, String, HealthType.Style)])
    func knows(identifier: String, kind: HealthType.Kind, unit: String, style: HealthType.Style) {
        #expect(
            HealthType.known(identifier) == HealthType(identifier: identifier, kind: kind, unit: unit, style: style))
    }

    @Test func keepsWhatItDoesNotKnow() {
        let type = HealthType.named("HKQuantityTypeIdentifierOfTomorrow")
        #expect(HealthType.known(type.identifier) == nil)
        #expect(type.kind == .quantity && type.unit.isEmpty && type.style == .none)
        #expect(HealthType.named("HKCategoryTypeIdentifierOfTomorrow").kind == .category)
        #expect(HealthType.named("com.example.own").kind == .other)
    }

    @Test func onlyTheNameOfATypeOfHealthKitIsLogged() {
        #expect(HealthType.logged("HKQuantityTypeIdentifierOfTomorrow") == "HKQuantityTypeIdentifierOfTomorrow")
        #expect(HealthType.logged(HealthType.locationIdentifier) == HealthType.locationIdentifier)
        for name in ["migraine", "com.example.own", ""] { #expect(HealthType.logged(name) == "other") }
    }

    @Test func everyUnitParses() {
        for type in HealthType.allKnown.values where !type.unit.isEmpty {
            #expect(HealthUnit(type.unit) != nil, "\(type.identifier)")
        }
        #expect(HealthType.allKnown.count > 150)
    }

    @Test(
        arguments: [
            ("HKCategoryValueSleepAnalysisInBed", 0), ("HKCategoryValueSleepAnalysisAsleep", 1),
            ("HKCategoryValueSleepAnalysisAsleepUnspecified", 1), ("HKCategoryValueSleepAnalysisAwake", 2),
            ("HKCategoryValueSleepAnalysisAsleepCore", 3), ("HKCategoryValueSleepAnalysisAsleepDeep", 4),
            ("HKCategoryValueSleepAnalysisAsleepREM", 5), ("HKCategoryValueAppleStandHourStood", 0),
            ("HKCategoryValueAppleStandHourIdle", 1), ("HKCategoryValueNotApplicable", 0),
            ("HKCategoryValueSeverityMild", 2),
            ("HKCategoryValueAppetiteChangesIncreased", 3), ("HKCategoryValueCervicalMucusQualityEggWhite", 5),
            ("3", 3),
            ("HKCategoryValueHeadphoneAudioExposureEventSevenDayLimit", 1),
        ] as [(String, Int)])
    func categoryNamesHaveTheirRawValues(name: String, raw: Int) { #expect(CategoryValue.raw(of: name) == raw) }

    @Test(arguments: [
        "", "HKCategoryValueSleepAnalysis", "hkcategoryvaluenotapplicable", "3.5", "99999999999999999999", "-1",
    ])
    func otherNamesHaveNone(name: String) { #expect(CategoryValue.raw(of: name) == nil) }

    @Test func rawValuesHaveTheirNames() {
        #expect(
            CategoryValue.name(of: 1, type: "HKCategoryTypeIdentifierSleepAnalysis")
                == "HKCategoryValueSleepAnalysisAsleepUnspecified")
        #expect(CategoryValue.name(of: 2, type: "HKCategoryTypeIdentifierHeadache") == "HKCategoryValueSeverityMild")
        #expect(
            CategoryValue.name(of: 0, type: "HKCategoryTypeIdentifierMindfulSession") == "HKCategoryValueNotApplicable")
        #expect(CategoryValue.name(of: 9, type: "HKCategoryTypeIdentifierSleepAnalysis") == nil)
        #expect(CategoryValue.name(of: 0, type: "HKQuantityTypeIdentifierStepCount") == nil)
    }
}
