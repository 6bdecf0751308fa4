import Configuration
import Figures
import Foundation
import HealthModel
import HealthViews
import Logging
import Protocol
import TestSupport
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
        // The names of columns, by day and by hour, and the titles that `days` shows.
        ("heart_rate_average", "HeartRate"), ("heart_rate", "HeartRate"), ("HR avg", "HeartRate"),
        ("hrv_sdnn_milliseconds", "HeartRateVariabilitySDNN"), ("heart_rate_resting", "RestingHeartRate"),
        ("Distance_Meters", "DistanceWalkingRunning"), ("active_energy_kilocalories", "ActiveEnergyBurned"),
    ])
    func names(_ text: String, _ type: String) throws {
        #expect(try ExplainedMetric(text).type == "HKQuantityTypeIdentifier" + type)
    }

    /// Whatever name a figure has in the summary, in the views or in a table, the same figure is found.
    @Test func eachFigureIsFoundByEachOfItsNames() throws {
        let stack = try StackConfiguration(
            path: nil,
            catalog: PluginCatalog(
                folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere"))
        let views = HealthViews(figures: stack.figures)
        for figure in stack.figures where figure.form != .object {
            let path = figure.path.joined(separator: ".")
            let column = try #require(views[.days]?.columns.first { $0.isCalled(path) }?.name)
            for name in [path, column, column.uppercased(), figure.column?.title].compactMap({ $0 }) {
                if figure.explanation == nil {
                    #expect(OwnFigureReport.declared(name, in: stack)?.1.path == figure.path, "\(name)")
                } else {
                    #expect(OwnFigureReport.declared(name, in: stack) == nil, "\(name)")
                    let metric = try ExplainedMetric(stack.metric(name), figures: stack.figures)
                    #expect(metric.path == figure.path, "\(name)")
                }
            }
        }
    }

    @Test func onlyHealthKitsPercentagesAreFractions() throws {
        #expect(try ExplainedMetric("OxygenSaturation").isFraction && ExplainedMetric("body-fat").isFraction)
        #expect(try !ExplainedMetric("steps").isFraction)
        let own = OwnTypeRow(name: "humidity", kind: "quantity", unit: "%", aggregation: "average", version: 1)
        #expect(try !ExplainedMetric("humidity", figures: [], held: ["humidity"], own: [own]).isFraction)
    }

    /// If a person's own type has the same name as a column of a table, the type takes precedence.
    @Test func aTypeOfThatNameComesFirst() throws {
        #expect(try ExplainedMetric("HR avg", held: ["HR avg"]).type == "HR avg")
    }

    @Test func aDateAloneLacksItsMetric() throws {
        func said(_ words: String...) -> Failure? { ExplainedMetric.mistake(words) }
        let date = try #require(said("2026-03-01"))
        #expect(date.code == .usage && date.message == "<figure> is missing: 2026-03-01 is a date")
        #expect(date.hint?.contains("'healthbus explain steps 2026-03-01'") == true)
        #expect(said("yesterday")?.hint?.contains("'healthbus explain steps 2025-03-30'") == true)
        #expect(said("steps") == nil && said() == nil && said("2026-03-01", "2026-03-02") == nil)
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
        // A type that only this store knows.
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

    /// A figure is found by its own name, or by the name of its instance if the instance has no other figure. It is
    /// also listed.
    @Test func aFigureOfYourOwnIsFound() throws {
        func stack(_ figures: String) throws -> StackConfiguration {
            let folder = try TemporaryFolder()
            let manifest = #"""
                { "name": "walks", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler",
                  "executable": "x", "reads": ["HKQuantityTypeIdentifierStepCount"], "figures": [FIGURES] }
                """#.replacingOccurrences(of: "FIGURES", with: figures)
            try manifest.write(toFile: folder.path + "/plugin.json", atomically: true, encoding: .utf8)
            let overlay = #"{"instances": {"walks": {"plugin": "./"}}}"#
            try overlay.write(toFile: folder.path + "/stack.json", atomically: true, encoding: .utf8)
            return try StackConfiguration(
                path: folder.path + "/stack.json",
                catalog: PluginCatalog(
                    folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere"))
        }
        let one = try stack(#"{ "name": "longestWalk" }"#)
        #expect(one.metric("Walks") == "longestWalk" && one.metric("steps") == "steps")
        #expect(one.metric("sleep") == "sleep" && one.metric("heart-rate") == "heart-rate")
        #expect(try stack(#"{ "name": "a" }, { "name": "b" }"#).metric("walks") == "walks")
        // A figure that is computed from another handler's samples still belongs to its own handler.
        let declared = try stack(
            #"""
            { "name": "longestWalk", "explain": {
              "names": ["walk"], "type": "HKQuantityTypeIdentifierStepCount", "rule": "total" } }
            """#)
        #expect(try declared.handler(computing: ExplainedMetric("walk", figures: declared.figures))?.name == "walks")
        #expect(try declared.handler(computing: ExplainedMetric("steps", figures: declared.figures))?.name == "steps")
        #expect(try declared.handler(computing: ExplainedMetric("DistanceCycling", figures: declared.figures)) == nil)
        do throws(Failure) {
            _ = try ExplainedMetric("qqqqqqqqqq", figures: one.figures)
            Issue.record("accepted")
        } catch { #expect(error.hint?.contains("steps") == true && error.hint?.contains("longestWalk") == true) }
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
