import HTTP
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// `healthbus sources`, with real processes; `LeftOutTests` tests the rules.
    @Suite struct SourcesTests {
        private static let day = "2025-11-03"

        private func push(_ stack: TestStack, _ source: String, _ value: Int, hour: Int, _ token: String) throws {
            let start = 1_762_160_400 + 3600 * hour
            let body = """
                {"samples": [{"type": "HKQuantityTypeIdentifierStepCount", "start": \(start), "end": \(start + 60), \
                "value": \(value), "unit": "count", "source": "\(source)"}]}
                """
            #expect(try stack.push("POST", "/v1/samples", Array(body.utf8), token: token).status == 200)
        }

        private func sync(_ stack: TestStack) async throws {
            let sync = try await stack.onState("sync", within: 120)
            #expect(sync.exit == .code(0), "\(sync)")
        }

        private func steps(_ stack: TestStack) throws -> Int64? {
            try stack.get("days", ["from": Self.day, "to": Self.day])["days"].array?.first?["steps"].int
        }

        @Test func aSourceIsListedLeftOutAndTakenBack() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token("--device", "phone")
                try push(stack, "Watch", 500, hour: 1, token)
                try push(stack, "Smart Ring", 70, hour: 2, token)
                try await sync(stack)
                #expect(try steps(stack) == 570)
                let listed = try Value(json: Array(try await stack.onState("sources", "--json").output.utf8))
                #expect(
                    listed["sources"].array?.map { [$0["source"], $0["samples"], $0["order"]] } == [
                        ["Watch", 1, 1], ["Smart Ring", 1, 2],
                    ], "\(listed)")
                let unknown = try await stack.onState("sources", "leave-out", "Smart Rin")
                #expect(unknown.exit == .code(2) && unknown.error.contains("Smart Ring"), "\(unknown)")
                let done = try await stack.onState("sources", "leave-out", "smart ring", "--type", "StepCount")
                #expect(done.exit == .code(0) && done.output.contains("Left out: 'Smart Ring', StepCount"), "\(done)")
                try await sync(stack)
                #expect(try steps(stack) == 500)
                let why = try await stack.onState("explain", "steps", Self.day)
                #expect(why.output.contains("Left out: Smart Ring"), "\(why)")
                let table = try await stack.onState("sources", "--type", "StepCount")
                #expect(table.output.contains("Left out") && table.output.contains("Smart Ring"), "\(table)")
                let verified = try await stack.onState("verify", within: 120)
                #expect(verified.exit == .code(0), "\(verified)")
                let back = try await stack.onState("sources", "take-back", "Smart Ring", "--type", "StepCount")
                #expect(back.exit == .code(0) && back.output.contains("Counts again"), "\(back)")
                try await sync(stack)
                #expect(try steps(stack) == 570)
                let twice = try await stack.onState("sources", "take-back", "Smart Ring", "--type", "StepCount")
                #expect(twice.exit == .code(1) && twice.error.contains("isn't left out"), "\(twice)")
                try await stack.interrupt(up)
            }
        }
    }
}
