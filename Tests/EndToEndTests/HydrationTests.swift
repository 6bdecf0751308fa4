import Foundation
import HealthModel
import Processes
import Supervisor
import Testing

extension EndToEnd {
    /// A plugin that consists only of its folder, plus a line here and there, appears wherever figures are shown.
    @Suite struct HydrationTests {
        private static let type = "HKQuantityTypeIdentifierDietaryWater"
        private static let export = """
            <?xml version="1.0" encoding="UTF-8"?>
            <HealthData locale="en_DE">
             <ExportDate value="2025-04-03 12:00:00 +0200"/>
             <Record type="\(type)" sourceName="Bottle" unit="mL" creationDate="2025-04-01 08:00:00 +0200" startDate="2025-04-01 08:00:00 +0200" endDate="2025-04-01 08:00:00 +0200" value="300"/>
             <Record type="\(type)" sourceName="Bottle" unit="L" creationDate="2025-04-01 12:00:00 +0200" startDate="2025-04-01 12:00:00 +0200" endDate="2025-04-01 12:00:00 +0200" value="0.5"/>
             <Record type="HKQuantityTypeIdentifierDietaryCaffeine" sourceName="Cup" unit="mg" creationDate="2025-04-01 09:00:00 +0200" startDate="2025-04-01 09:00:00 +0200" endDate="2025-04-01 09:00:00 +0200" value="80"/>
            </HealthData>

            """

        private func day(_ stack: TestStack) async throws -> Value {
            try #require(
                try await stack.onState("days", "--json", "--from", "1990-01-01").json().array?.first {
                    $0["date"] == "2025-04-01"
                })
        }

        @Test func itIsInDaysExplainStatusAndTheBackend() async throws {
            try await withStack { stack in
                let export = try stack.write("export.xml", Self.export)
                // The stack starts without this handler, as in an earlier release: the figures that `generic` computes
                // then must not appear twice afterwards.
                let without = try stack.write("without.json", #"{ "instances": { "hydration": null } }"#)
                var up = try await stack.up("--config", without, "--import", export, "--until-idle").ended()
                #expect(up.exit == .code(0), "\(up.error)")
                #expect(try await day(stack)["other"][Self.type]["sum"] == 800)
                let usual = try stack.write("usual.json", "{}")
                up = try await stack.up("--config", usual, "--until-idle").ended()
                #expect(up.exit == .code(0), "\(up.error)")

                let day = try await day(stack)
                #expect(day["waterMilliliters"].double == 800 && day["other"][Self.type].isNull, "\(day.json())")
                #expect(day["other"]["HKQuantityTypeIdentifierDietaryCaffeine"]["sum"] == 80)
                let table = try await stack.onState("days").output.split(separator: "\n")
                #expect(table.first?.contains("Water l  State") == true, "\(table)")
                #expect(table.contains { $0.hasPrefix("2025-04-01") && $0.contains("0.8") }, "\(table)")

                for name in ["water", "hydration", "waterMilliliters", "DietaryWater"] {
                    let reported = try await stack.onState("explain", name, "2025-04-01", "--json").json()
                    #expect(
                        reported["value"].double == 800 && reported["agrees"] == true && reported["unit"] == "mL",
                        "\(reported.json())")
                    #expect(reported["handler"] == "hydration" && reported["metric"] == "water")
                }
                let status = try await stack.onState("status", "--json").json()
                let metric = try #require(
                    status["metrics"].array?.first { $0["metric"] == "hydration" }, "\(status.json())")
                #expect(metric["pending"] == 0, "\(metric.json())")

                let running = try await stack.upAndReady("--config", usual)
                try await until("the day is final at the backend") {
                    let held = try stack.get("days", ["from": "2025-04-01", "to": "2025-04-01"])["days"].array?.first
                    return held?["waterMilliliters"].double == 800 && held?["final"] == true
                        && held?["other"][Self.type].isNull == true
                }
                let samples = try stack.get("samples", ["type": Self.type])
                #expect(samples["samples"].array?.count == 2, "\(samples.json())")
                try await stack.interrupt(running)
            }
        }

        @Test func itKeepsTheContract() async throws {
            try await withStack { stack in
                let test = try await stack.run("plugins", "test", "hydration", "--json", within: 200)
                #expect(test.exit == .code(0), "\(test.output)\n\(test.error)")
                #expect(try test.json()["failed"] == 0)
            }
        }
    }
}
