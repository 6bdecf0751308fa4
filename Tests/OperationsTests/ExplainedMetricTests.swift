import Configuration
import HealthModel
import Inspection
import Logging
import Protocol
import Testing

@Suite struct ExplainedMetricTests {
    @Test(arguments: [
        ("steps", "StepCount"), ("Steps", "StepCount"), ("HKQuantityTypeIdentifierStepCount", "StepCount"),
        ("stepcount", "StepCount"), ("distance", "DistanceWalkingRunning"),
        ("distanceMeters", "DistanceWalkingRunning"),
        ("hrv", "HeartRateVariabilitySDNN"), ("hrvSDNNMilliseconds", "HeartRateVariabilitySDNN"),
        ("heartRate", "HeartRate"), ("resting-heart-rate", "RestingHeartRate"),
        ("exerciseMinutes", "AppleExerciseTime"),
        ("DistanceCycling", "DistanceCycling"),
    ])
    func names(_ text: String, _ type: String) throws {
        #expect(try ExplainedMetric(text).type == "HKQuantityTypeIdentifier" + type)
    }

    @Test func kindsFollowTheType() throws {
        #expect(try ExplainedMetric("sleep").kind == .sleep)
        for name in ["workouts", "workout", "HKWorkoutTypeIdentifier"] {
            #expect(try ExplainedMetric(name).kind == .workouts)
        }
        #expect(try ExplainedMetric("standHours").kind == .standHours)
        #expect(try ExplainedMetric("heart-rate").kind == .average)
        #expect(try ExplainedMetric("body-mass").kind == .latest)
        let cycling = try ExplainedMetric("DistanceCycling")
        #expect(cycling.kind == .total && cycling.path == ["other", cycling.type, "sum"] && cycling.unit == "m")
        #expect(try ExplainedMetric("RespiratoryRate").path.last == "average")
        #expect(try ExplainedMetric("MindfulSession").kind == .count)
        // Known only to this store.
        #expect(try ExplainedMetric("hkother", held: ["HKOther"]).type == "HKOther")
    }

    @Test func onlyNumbersOfAnOwnTypeDependOnTheUnit() throws {
        func own(_ aggregation: String) -> OwnTypeRow {
            OwnTypeRow(name: "coffee", kind: "quantity", unit: "cups", aggregation: aggregation, version: 1)
        }
        for (aggregation, unit) in [("sum", "cups"), ("average", "cups"), ("count", nil)] {
            let metric = try ExplainedMetric("coffee", figures: [], held: ["coffee"], own: [own(aggregation)])
            #expect(metric.onlyUnit == unit, "\(aggregation)")
        }
        #expect(try ExplainedMetric("DistanceCycling").onlyUnit == nil)
    }

    @Test func nonsenseIsAnsweredWithTheNearest() {
        func message(_ text: String) -> String {
            do {
                _ = try ExplainedMetric(text)
                return ""
            } catch {
                #expect(error.code == .usage)
                return error.description
            }
        }
        #expect(message("stpes").contains("did you mean steps?"))
        #expect(message("stpes").contains("active-energy"))
        #expect(message("DistanceCyclin").contains("did you mean DistanceCycling?"))
        #expect(!message("qqqqqqqqqq").contains("did you mean"))
        #expect(message("").contains("isn't a metric"))
        #expect(message("BloodPressure").contains("parts"))
    }

    @Test func figuresAreFoundInTheSummary() throws {
        let summary: Value = [
            "steps": 100, "heartRate": ["average": 60, "resting": 50],
            "other": ["HKQuantityTypeIdentifierDistanceCycling": ["sum": 5]],
        ]
        #expect(try ExplainedMetric("steps").figure(in: summary) == 100)
        #expect(try ExplainedMetric("heart-rate").figure(in: summary) == 60)
        #expect(try ExplainedMetric("resting-heart-rate").figure(in: summary) == 50)
        #expect(try ExplainedMetric("DistanceCycling").figure(in: summary) == 5)
        #expect(try ExplainedMetric("sleep").figure(in: summary) == nil)
        let workouts = try ExplainedMetric("workouts")
        #expect(workouts.figure(in: ["workouts": [["id": "a"], ["id": "b"]]]) == 2)
        #expect(workouts.figure(in: ["workouts": []]) == nil && workouts.figure(in: summary) == nil)
    }
}
