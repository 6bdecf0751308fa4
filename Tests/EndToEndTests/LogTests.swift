import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// What a whole stack logs at its most verbose.
    @Suite struct LogTests {
        /// Values and names that don't occur anywhere else.
        private static let marks = [
            "73619", "141.537", "83.6429", "9.87653", "Zaphira", "Fernrohr", "Kuckucksuhr", "geheim-4711", "quendolin",
        ]

        private static func export(day: Int) -> String {
            let date = "2025-03-\(day) 10:"
            func record(_ type: String, _ unit: String, _ value: String) -> String {
                """
                 <Record type="HKQuantityTypeIdentifier\(type)" sourceName="Zaphira's Fernrohr" sourceVersion="1" \
                device="&lt;&lt;HKDevice: 0x1&gt;, name:Kuckucksuhr&gt;" unit="\(unit)" \
                creationDate="\(date)20:00 +0100" startDate="\(date)00:00 +0100" endDate="\(date)10:00 +0100" \
                value="\(value)">
                  <MetadataEntry key="Note" value="geheim-4711"/>
                 </Record>

                """
            }
            return """
                <?xml version="1.0" encoding="UTF-8"?>
                <HealthData locale="de_DE">
                 <ExportDate value="2025-03-30 12:00:00 +0100"/>
                \(record("StepCount", "count", "73619"))\(record("HeartRate", "count/min", "141.53719"))\
                \(record("BodyMass", "kg", "83.64297"))\
                 <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="10" durationUnit="min" \
                totalDistance="9.87653" totalDistanceUnit="km" sourceName="Zaphira's Fernrohr" \
                creationDate="\(date)20:00 +0100" startDate="\(date)00:00 +0100" endDate="\(date)10:00 +0100"/>
                </HealthData>

                """
        }

        private func bring(_ stack: TestStack, day: Int) async throws {
            let file = stack.path("\(day).zip")
            try Archive.write(["apple_health_export/export.xml": Self.export(day: day)], to: file)
            let ended = try await stack.onState("import", file, "--user", "quendolin", "--json")
            #expect(ended.exit == .code(0), "\(ended.error)")
        }

        private func events(_ up: Command) -> [Value] {
            up.error.split(separator: "\n").compactMap { try? Value(json: $0.utf8) }.filter { !$0["event"].isNull }
        }

        private func device(_ stack: TestStack, _ words: String...) async throws {
            let ended = try await stack.start(words + ["--state", stack.state]).ended()
            #expect(ended.exit == .code(0), "\(ended.error)")
        }

        @Test func everyStepOfASyncIsLoggedAndNoHealthValueIs() async throws {
            try await withStack { stack in
                let config = try stack.write(
                    "config.json", #"{"instances": {"debouncer": {"configuration": {"launch": "device"}}}}"#)
                let up = try await stack.upAndReady(
                    "--config", config, environment: ["HEALTHBUS_LOG": "json", "HEALTHBUS_LOG_LEVEL": "debug"])
                func logged(_ name: String, _ fields: [String: Value] = [:]) -> Bool {
                    events(up).contains { event in
                        event["event"].string == name
                            && fields.allSatisfy { event["fields"][$0.key] == $0.value }
                    }
                }
                func expect(_ name: String, _ fields: [String: Value] = [:]) async throws {
                    try await until("\(name) \(fields)") { logged(name, fields) }
                }
                let steps: Value = "HKQuantityTypeIdentifierStepCount"
                try await bring(stack, day: 11)
                try await expect("observer.fired", ["type": steps, "locked": false])
                try await expect("debounce.finished")
                try await expect("observer.acknowledged", ["consumer": "debouncer"])
                try await expect("sync.metric", ["consumer": "steps", "outcome": "starting"])
                try await expect("page", ["upstream": "observer", "added": 1, "deleted": 0])
                try await expect("sync.metric", ["consumer": "steps", "outcome": "completed"])
                try await expect("sync.summary", ["failed": 0])

                try await device(stack, "device", "set", "app=background")
                try await bring(stack, day: 12)
                try await expect("pending.added", ["type": steps])
                try await expect("task.scheduled", ["task": "healthkit-sync"])
                // The command fails until the task is reported as pending, so it is repeated until then.
                try await until("launched", every: 100) {
                    try await stack.onState("tasks", "launch", "healthkit-sync").exit == .code(0)
                }
                try await expect("task.started", ["task": "healthkit-sync"])
                try await expect("task.completed", ["task": "healthkit-sync", "outcome": "succeeded"])
                // Once everything is delivered, the uploader and the backend have logged every kind of event that they
                // can.
                try await until("workouts at the backend") {
                    try stack.get("stats")["types"]["HKQuantityTypeIdentifierBodyMass"]["alive"].int == 2
                }
                let ended = try await stack.interrupt(up)

                let said = ended.error
                #expect(events(up).count > 50)
                for mark in Self.marks { #expect(!said.contains(mark), "a log holds \(mark)") }
                #expect(Set(events(up).compactMap { $0["plugin"].string }).count >= 13)
            }
        }
    }
}
