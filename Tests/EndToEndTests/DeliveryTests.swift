import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// The phone's side of delivery, tested through the commands that stand in for the phone.
    @Suite struct DeliveryTests {
        private func done(_ stack: TestStack, _ words: String...) async throws -> Command.Ended {
            let ended = try await stack.start(words + ["--state", stack.state]).ended()
            #expect(ended.exit == .code(0), "\(words): \(ended.error)")
            return ended
        }

        private func alive(_ stack: TestStack, _ type: String) throws -> Int64 {
            try stack.get("stats")["types"][type]["alive"].int ?? 0
        }

        @Test func aLockedDeviceMovesNothingAndOnUnlockAllArrives() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "5", "--seed", "1")
                let up = try await stack.upAndReady()
                let locked = try await done(stack, "device", "set", "locked=true", "--json")
                #expect(try locked.json()["locked"] == true)
                _ = try await done(stack, "import", export)
                // The observer keeps these samples, but no process downstream sees them, not even when a person
                // requests a sync.
                let sync = try await stack.onState("sync", "--json")
                #expect(sync.exit == .code(1), "\(sync.output)")
                #expect(try await done(stack, "days", "--json", "--from", "1990-01-01").json().array?.isEmpty == true)
                #expect(try alive(stack, "HKQuantityTypeIdentifierStepCount") == 0)
                _ = try await done(stack, "device", "reset")
                try await until("days") {
                    try await done(stack, "days", "--json", "--from", "1990-01-01").json().array?.count ?? 0 >= 5
                }
                let held = try await done(stack, "types", "--json").json().array?.first {
                    $0["type"] == "HKQuantityTypeIdentifierStepCount"
                }
                try await until("steps at the backend") {
                    try alive(stack, "HKQuantityTypeIdentifierStepCount") == held?["samples"].int
                }
                try await stack.interrupt(up)
            }
        }

        @Test func aTypeThatIsOffIsLeftOutAndComesWhenItIsOnAgain() async throws {
            try await withStack { stack in
                let mass = "HKQuantityTypeIdentifierBodyMass"
                let export = try await stack.generate("export.zip", "--days", "8", "--seed", "1")
                let up = try await stack.upAndReady()
                let off = try await done(stack, "types", "off", "bodymass", "--json").json().array?.first
                #expect(off?["type"] == .string(mass) && off?["state"] == "off")
                _ = try await done(stack, "import", export)
                // Neither a sync nor a day has to wait for the withheld type.
                _ = try await done(stack, "sync", "--json")
                #expect(try alive(stack, mass) == 0)
                #expect(try alive(stack, "HKQuantityTypeIdentifierStepCount") > 100)
                let days = try await done(stack, "days", "--json", "--from", "1990-01-01").json().array ?? []
                #expect(days.count >= 8 && days.allSatisfy { $0["bodyMassKilograms"].isNull })
                _ = try await done(stack, "types", "on", mass)
                try await until("weight at the backend") { try alive(stack, mass) > 0 }
                try await until("weight in the days") {
                    try await done(stack, "days", "--json", "--from", "1990-01-01").json().array?.contains {
                        !$0["bodyMassKilograms"].isNull
                    }
                        == true
                }
                for (frequency, requested) in [("daily", "daily"), ("default", "immediate")] {
                    let row = try await done(stack, "types", "frequency", "StepCount", frequency, "--json").json()
                        .array?.first
                    #expect(row?["requested"] == .string(requested) && row?["effective"] == .string(requested))
                }
                let wrong = try await stack.onState("types", "off", "BodyMas")
                #expect(wrong.exit == .code(2) && wrong.error.contains("BodyMass"))
                let device = try await stack.onState("device", "set", "app=asleep")
                #expect(device.exit == .code(2) && device.error.contains("forceQuit"))
                try await stack.interrupt(up)
            }
        }
    }
}
