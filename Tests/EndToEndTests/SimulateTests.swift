import HealthModel
import Processes
import Testing

extension EndToEnd {
    @Suite struct SimulateTests {
        /// Two processes hash differently: no order of a dictionary may be part of a report.
        @Test func theSameSeedGivesTheSameReportByteForByte() async throws {
            try await withStack { stack in
                let words = ["simulate", "--days", "2", "--seed", "7", "--life", "worst", "--json"]
                // Nothing but computing, for seconds: on a machine that does much else, for minutes.
                let first = try await stack.start(words).ended(within: 900)
                let second = try await stack.start(words).ended(within: 900)
                #expect(first.exit == .code(0) && first.error.isEmpty, "\(first.error)")
                #expect(first.output == second.output)
                let strategies = try first.json()["strategies"].array ?? []
                #expect(
                    strategies.map(\.["strategy"].string) == [
                        "background-delivery", "app-refresh", "silent-push", "processing", "combined", "naive",
                    ])
                for strategy in strategies.dropLast() {
                    #expect(strategy["lost"] == 0 && strategy["doubled"] == 0, "\(strategy.json())")
                    #expect(strategy["samples"].int ?? 0 > 1000)
                }
            }
        }

        @Test func anUnknownStrategyIsRefusedWithTheNames() async throws {
            try await withStack { stack in
                let ended = try await stack.start(["simulate", "--strategy", "polling"]).ended()
                #expect(ended.exit == .code(2))
                #expect(ended.error.contains("silent-push"))
            }
        }
    }
}
