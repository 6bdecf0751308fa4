import HealthModel
import Testing

/// Which types have sums over many hours, and which happen at instants: a new type in the table must be decided here.
@Suite struct SumTypesTests {
    private static let countedAllDay: Set = [
        "StepCount", "FlightsClimbed", "PushCount", "SwimmingStrokeCount", "NikeFuel", "DistanceWalkingRunning",
        "DistanceCycling", "DistanceSwimming", "DistanceWheelchair", "DistanceDownhillSnowSports", "DistanceRowing",
        "DistancePaddleSports", "DistanceCrossCountrySkiing", "DistanceSkatingSports", "ActiveEnergyBurned",
        "BasalEnergyBurned", "AppleExerciseTime", "AppleMoveTime", "AppleStandTime", "TimeInDaylight",
    ]
    private static let momentary: Set = [
        "InsulinDelivery", "InhalerUsage", "NumberOfTimesFallen", "NumberOfAlcoholicBeverages",
    ]

    @Test func eachCumulativeTypeIsDecided() {
        let prefix = "HKQuantityTypeIdentifier"
        for type in HealthType.allKnown.values {
            let name = String(type.identifier.dropFirst(prefix.count))
            #expect(type.isCountedAllDay == Self.countedAllDay.contains(name), "\(type.identifier)")
            #expect(type.hasLongSums == (type.style == .cumulative && name != "InsulinDelivery"), "\(type.identifier)")
            guard type.style == .cumulative, !type.isCountedAllDay else { continue }
            #expect(Self.momentary.contains(name) || name.hasPrefix("Dietary"), "\(type.identifier)")
        }
        #expect(!HealthType.named("coffee").hasLongSums)
    }

    /// Whatever Apple calls an event is a notification, except what a person does.
    @Test func eachEventIsDecided() {
        let done: Set = ["HKCategoryTypeIdentifierToothbrushingEvent", "HKCategoryTypeIdentifierHandwashingEvent"]
        let cycles: Set = [
            "HKCategoryTypeIdentifierPersistentIntermenstrualBleeding",
            "HKCategoryTypeIdentifierProlongedMenstrualPeriods", "HKCategoryTypeIdentifierIrregularMenstrualCycles",
            "HKCategoryTypeIdentifierInfrequentMenstrualCycles",
        ]
        for type in HealthType.allKnown.values where type.kind == .category {
            let isEvent = type.identifier.hasSuffix("Event") && !done.contains(type.identifier)
            #expect(type.isNotification == (isEvent || cycles.contains(type.identifier)), "\(type.identifier)")
        }
    }

    @Test func namesTwiceInAnOrderCountOnce() {
        let order = SourceOrder(["Band", "Band", "Ring"])
        #expect(order.rank(origin: Origin(sourceName: "Ring"), userEntered: false) == 2)
        #expect(order.rank(origin: Origin(sourceName: "Watch"), userEntered: false) == 3)
    }
}
