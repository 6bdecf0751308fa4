import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    @Suite struct SimulateTests {
        private static let strategies = [
            "background-delivery", "app-refresh", "silent-push", "processing", "combined", "notify", "opening", "naive",
            "no-completion",
        ]

        /// Two processes use different hash seeds, so this shows that the order of a dictionary doesn't influence a
        /// report.
        @Test func theSameSeedGivesTheSameReportByteForByte() async throws {
            try await withStack { stack in
                let words = ["simulate", "--days", "2", "--seed", "7", "--life", "worst", "--json"]
                // This is pure computation, which takes some seconds, or minutes on a busy machine.
                let first = try await stack.start(words).ended(within: 900)
                let second = try await stack.start(words).ended(within: 900)
                #expect(first.exit == .code(0) && first.error.isEmpty, "\(first.error)")
                #expect(first.output == second.output)
                let strategies = try first.json()["strategies"].array ?? []
                #expect(strategies.map(\.["strategy"].string) == Self.strategies)
                for strategy in strategies {
                    let shares = ["15m", "1h", "4h", "24h"].compactMap { strategy["deliveredWithin"][$0].double }
                    #expect(shares.count == 4 && shares == shares.sorted() && shares.allSatisfy((0...1).contains))
                    #expect(strategy["wakesByHour"].array?.count == 24 && strategy["byHour"].array?.count == 24)
                    #expect(strategy["byMetric"]["steps"]["samples"].int ?? 0 > 100)
                    #expect(strategy["samples"].int ?? 0 > 1000)
                    guard strategy["strategy"] != "naive" else { continue }
                    #expect(strategy["lost"] == 0 && strategy["doubled"] == 0, "\(strategy.json())")
                }
            }
        }

        @Test func aTableAndAChartAreDrawn() async throws {
            try await withStack { stack in
                let ended = try await stack.start(["simulate", "--days", "1", "--chart"]).ended(within: 900)
                #expect(ended.exit == .code(0) && ended.error.isEmpty, "\(ended.error)")
                let lines = ended.output.split(separator: "\n").map(String.init)
                for strategy in Self.strategies {
                    // Each strategy has one line in the main table, one in the table by metric, and one in the bar
                    // chart.
                    #expect(lines.count { $0.hasPrefix(strategy + " ") } == 3, "\(strategy)")
                }
                #expect(lines.contains { $0.contains("15m") && $0.contains("24h") && $0.contains("95 %") })
                #expect(ended.output.contains("█"))
            }
        }

        @Test func theModelIsPrintedWithItsSources() async throws {
            try await withStack { stack in
                let rows = try await stack.start(["simulate", "--model", "--json"]).ended().json().array ?? []
                #expect(rows.count > 50)
                for row in rows {
                    let (low, value, high) = (row["low"].double, row["value"].double, row["high"].double)
                    #expect(try #require(low) <= #require(value) && #require(value) <= #require(high), "\(row.json())")
                    #expect(row["source"].string?.isEmpty == false)
                }
                let table = try await stack.start(["simulate", "--model"]).ended()
                #expect(table.exit == .code(0) && table.output.contains("the phone is unlocked"))
            }
        }

        /// After Ctrl-C, no folder is left behind.
        @Test(arguments: [SIGINT, SIGTERM])
        func anInterruptedSimulationLeavesNothingBehind(signal: Int32) async throws {
            try await withStack { stack in
                let run = try await stack.start(["simulate", "--days", "3650", "--strategy", "combined"])
                let prefix = "healthbus-\(run.child.pid)-"
                func folders() -> [String] {
                    ["/dev/shm", FileManager.default.temporaryDirectory.path].flatMap { folder in
                        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
                            .filter { $0.hasPrefix(prefix) }
                    }
                }
                try await until("it has a folder", within: 60) { !folders().isEmpty }
                run.child.signal(signal)
                let ended = try await run.ended(within: 60)
                #expect(ended.exit == .code(1), "\(ended.error)")
                #expect(folders().isEmpty)
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
