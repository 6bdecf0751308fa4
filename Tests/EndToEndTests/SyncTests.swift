import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Tests tasks, manual and historical syncs, and what is recorded about them, on a running stack.
    @Suite struct SyncTests {
        private func task(_ stack: TestStack, _ id: String) async throws -> Value {
            let ended = try await stack.onState("tasks", "list", "--json")
            #expect(ended.exit == .code(0), "\(ended.error)")
            return try ended.json().array?.first { $0["id"].string == id } ?? .null
        }

        /// How many weeks of the historical sync are done, as counted by the debouncer.
        private func weeks(_ stack: TestStack) throws -> Int64 {
            let kept = try stack.rows("debouncer", "SELECT value FROM released WHERE key = 'history'").first
            return try kept.map { try Value(json: Array($0.utf8)) }?["done"].int ?? 0
        }

        @Test func tasksAreListedLaunchedAndCancelled() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                try await until("remote-sync pending") { try await task(stack, "remote-sync")["state"] == "pending" }
                #expect(try await task(stack, "consolidated-daily")["kind"] == "processing")
                let launched = try await stack.onState("tasks", "launch", "remote-sync", "--json")
                #expect(launched.exit == .code(0), "\(launched.error)")
                try await until("remote-sync done") {
                    try await task(stack, "remote-sync")["history"]["lastOutcome"] == "succeeded"
                }
                // The next run of the task is already pending.
                #expect(try await task(stack, "remote-sync")["state"] == "pending")
                // This task needs the local time, which the observer has to report first.
                try await until("daily-energy pending") { try await task(stack, "daily-energy")["state"] == "pending" }
                let cancelled = try await stack.onState("tasks", "cancel", "daily-energy", "--json")
                #expect(cancelled.exit == .code(0), "\(cancelled.error)")
                let idle = try await stack.onState("tasks", "launch", "healthkit-sync")
                #expect(idle.exit == .code(1) && idle.error.contains("isn't pending"))
                let unknown = try await stack.onState("tasks", "launch", "remote-snyc")
                #expect(unknown.exit == .code(2) && unknown.error.contains("remote-sync"))
                try await stack.interrupt(up)
                // Pending tasks stay pending while nothing is running.
                #expect(try await task(stack, "remote-sync")["state"] == "pending")
            }
        }

        @Test func aSyncByHandDelivers() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "10", "--seed", "1")
                let slow = try stack.write(
                    "slow.json",
                    """
                    {"instances": {"debouncer": {"configuration": {"windowSeconds": 3600, "maximumWaitSeconds": 86400}}}}
                    """)
                let up = try await stack.upAndReady("--config", slow)
                // A debouncer that hears of the observer only after the import takes the samples for old data, which
                // doesn't wait.
                try await until("the debouncer knows the observer") {
                    try await task(stack, "daily-energy")["state"] == "pending"
                }
                let imported = try await stack.onState("import", export, "--config", slow)
                #expect(imported.exit == .code(0), "\(imported.error)")
                // The end of a file releases what it brought. What a phone sends waits for its window, here an hour.
                func stored() throws -> Int64 {
                    try stack.get("stats")["types"]["HKQuantityTypeIdentifierStepCount"]["alive"].int ?? 0
                }
                _ = try await stack.onState("sync", "--json", "--config", slow)
                let before = try stored()
                #expect(before > 100)
                let token = try await stack.token("--config", slow)
                #expect(try stack.push((0..<120).map { PushedSteps(number: $0) }, token: token).status == 200)
                let metric = try await stack.onState("sync", "steps", "--json", "--config", slow).json()
                #expect(metric["delivered"] == true && metric["metrics"].array?.count == 1)
                #expect(metric["metrics"].array?.first?["new"] == 120, "\(metric)")
                let steps = try stored()
                #expect(steps == before + 120)
                let all = try await stack.onState("sync", "--json", "--config", slow)
                #expect(all.exit == .code(0), "\(all.error)")
                #expect(try all.json()["blocked"] == [])
                let metrics = try all.json()["metrics"].array?.compactMap { $0["metric"].string } ?? []
                #expect(try metrics.count == Set(metrics).count && Set(metrics) == Programs.handlers())
                #expect(try stored() == steps)
                let days =
                    try await stack.onState("days", "--json", "--from", "1990-01-01", "--config", slow).json().array
                    ?? []
                #expect(days.count >= 10)
                let history = try await stack.onState("history", "--json", "--config", slow)
                #expect(history.exit == .code(0), "\(history.error)")
                let unknown = try await stack.onState("sync", "stpes", "--config", slow)
                #expect(unknown.exit == .code(2) && unknown.error.contains("steps"))
                try await stack.interrupt(up)
                let rounds = try await stack.onState("history", "--json", "--config", slow).json()
                let last = rounds["last"].array ?? []
                #expect(last.contains { $0["reason"] == "sync" })
                #expect(rounds["rounds"].int == Int64(last.count))
                let succeeded = last.count { $0["failed"] == [:] }
                #expect(rounds["successRate"].double == Double(succeeded) / Double(last.count), "\(rounds)")
            }
        }

        @Test func aBackendThatIsDownIsNamed() async throws {
            try await withStack { stack in
                let nobody = try freePort()
                let config = try stack.write(
                    "down.json",
                    """
                    {"instances": {"backend": null, "uploader": {"configuration": {"url": "http://127.0.0.1:\(nobody)"}}}}
                    """)
                let export = try await stack.generate("export.zip", "--days", "3", "--seed", "1")
                let up = try await stack.upAndReady(
                    "--config", config, environment: ["HEALTHBUS_BACKEND_TOKEN": "made-up-token-of-a-test"])
                _ = try await stack.onState("import", export, "--config", config)
                let ended = try await stack.onState("sync", "--json", "--config", config)
                #expect(ended.exit == .code(1) && ended.error.contains("uploader"), "\(ended.error)")
                #expect(try ended.json()["delivered"] == false)
                try await stack.interrupt(up)
            }
        }

        /// After a kill, the historical sync continues where it was, and the backend gets everything exactly once.
        @Test func historyGoesOnAfterAKill() async throws {
            try await withStack { stack in
                let export = try await stack.generate(
                    "export.zip", "--days", "200", "--records", "40000", "--seed", "1")
                let ended = try await stack.up("--import", export, "--until-idle").ended()
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                let up = try await stack.upAndReady()
                let before = try stack.get("stats")["samples"]
                let sync = try await stack.start([
                    "sync", "--history", "all", "--json", "--state", stack.state,
                ])
                try await until("the first weeks; \(sync.error)") { try weeks(stack) >= 2 }
                let victim = try #require(try stack.pid(of: "debouncer"))
                kill(victim, SIGKILL)
                // If the sync had already ended, the rest of the test would prove nothing.
                #expect(sync.isRunning)
                let done = try await sync.ended(within: 120)
                #expect(done.exit == .code(0), "\(done.error)")
                #expect((try done.json()["chunks"].int ?? 0) >= 25)
                #expect(try await task(stack, "historical")["history"]["lastOutcome"] == "succeeded")
                let after = try stack.get("stats")
                #expect(after["samples"] == before && after["acceptedTwice"] == 0)
                try await stack.interrupt(up)
            }
        }
    }
}
