import Foundation
import Glibc
import HealthModel
import Processes
import SQLite
import TestSupport
import Testing

extension EndToEnd {
    /// Swaps that fail: the old process keeps running or is restarted, and no figure changes.
    @Suite struct SwapFaultTests {
        /// An idle stack with a few days of data.
        private static func withDays(_ body: (TestStack, Command) async throws -> Void) async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "20", "--seed", "4")
                let ended = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                let up = try await stack.upAndReady()
                try await body(stack, up)
                guard up.isRunning else { return }
                let stopped = try await stack.interrupt(up)
                #expect(stopped.exit == .code(0), "\(stopped.error.suffix(2000))")
            }
        }

        private static func days(_ stack: TestStack) async throws -> String {
            try await stack.onState("days", "--json", "--from", "1990-01-01").output
        }

        /// Writes a custom handler in Python to the stack's folder.
        /// - Parameter hello: the code that runs when the handler is greeted; `compute`: the code that runs for a day.
        private static func plugin(
            _ name: String, on stack: TestStack, hello: String? = nil, compute: String = "pass",
            types: [String] = ["StepCount", "DistanceWalkingRunning", "FlightsClimbed"]
        ) throws -> String {
            let folder = stack.path(name)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let list = types.map { "\"HKQuantityTypeIdentifier\($0)\"" }.joined(separator: ", ")
            _ = try stack.write(
                "\(name)/plugin.json",
                """
                { "name": "\(name)", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler",
                  "exec": ["python3", "handler.py"], "entitlements": ["health"],
                  "types": [\(list)],
                  "configuration": { "type": "object", "properties": {
                    "sourceOrder": { "type": "object", "default": {}, "additionalProperties": { "type": "array" } } } } }
                """)
            let greet = "say({\"hello\": {\"protocol\": 1, \"name\": \"\(name)\", \"version\": 1}})"
            _ = try stack.write(
                "\(name)/handler.py",
                """
                import json, os, sys, time

                def say(line):
                    print(json.dumps(line), flush=True)

                for text in sys.stdin.buffer:
                    line = json.loads(text)
                    if "hello" in line:
                        \(hello ?? greet)
                    elif "day" in line:
                        day = line["day"]
                    elif "compute" in line:
                        \(compute)
                        say({"done": day["date"], "user": day["user"]})
                """)
            return folder
        }

        /// Checks that a swap is refused for that reason, and that the process isn't affected.
        private static func refused(_ words: [String], _ why: String, on stack: TestStack) async throws {
            let pid = try stack.pid(of: "steps")
            let limit = words.contains("--within") ? [] : SwapTests.patience
            let ended = try await stack.start(["swap", "steps", "--state", stack.state] + words + limit).ended()
            #expect(ended.exit == .code(1), "\(words): \(ended.output)\(ended.error)")
            #expect(ended.error.contains(why), "\(words): \(ended.error)")
            #expect(try pid != nil && stack.pid(of: "steps") == pid)
            #expect(try SwapTests.runners(of: "steps", stack).count == 1)
            #expect(!stack.recordsSwap)
        }

        @Test func whatCannotTakeThePlaceIsRefused() async throws {
            try await Self.withDays { stack, _ in
                let days = try await Self.days(stack)
                func plugin(_ name: String, _ hello: String? = nil, _ compute: String = "pass") throws -> String {
                    try Self.plugin(name, on: stack, hello: hello, compute: compute)
                }
                try await Self.refused(["--with", "nowhere"], "there is no plugin 'nowhere'", on: stack)
                try await Self.refused(["--with", stack.path("none")], "none/plugin.json: can't be read", on: stack)
                try await Self.refused(["--with", "observer"], "its kind is observer, not handler", on: stack)
                try await Self.refused(["--with", "body"], "its 'types' are different", on: stack)
                try await Self.refused(["--back"], "there is no swap to undo", on: stack)
                let crashing = try plugin("crashing", "os._exit(3)")
                try await Self.refused(["--with", crashing], "doesn't work: it ended (exit code 3)", on: stack)
                let declining = try plugin("declining", "say({\"error\": \"not today\"})")
                try await Self.refused(["--with", declining], "not today", on: stack)
                let hanging = try plugin("hanging", "time.sleep(1000)")
                try await Self.refused(
                    ["--with", hanging, "--within", "2"], "wasn't ready within 2 s", on: stack)
                let slow = try plugin("slow", nil, "time.sleep(1000)")
                try await Self.refused(["--with", slow, "--within", "2"], "wasn't ready within 2 s", on: stack)
                let failing = try plugin("failing", nil, "os._exit(4)")
                try await Self.refused(["--with", failing], "fails on 15 of 15 days", on: stack)
                try await Self.refused(["--with", failing, "--dry-run"], "fails on 15 of 15 days", on: stack)
                #expect(try await Self.days(stack) == days)
            }
        }

        /// Figures that the new plugin computes differently are delivered as revisions, survive a restart of the stack,
        /// and disappear with the plugin.
        @Test func aSwapOutlivesTheStack() async throws {
            try await Self.withDays { stack, up in
                let before = try await Self.days(stack)
                let doubled = try Self.plugin(
                    "doubled", on: stack,
                    compute: "say({\"figures\": {\"steps\": 2}, \"user\": day[\"user\"], \"date\": day[\"date\"]})")
                let trial = try await stack.start(
                    ["swap", "steps", "--with", doubled, "--dry-run", "--json", "--state", stack.state]
                        + SwapTests.patience
                ).ended()
                let report = try trial.json()["trial"]
                #expect(
                    trial.exit == .code(0) && report["computed"] == 14 && report["differing"] == 15, "\(trial.output)")
                #expect(report["figures"].array?.contains("steps") == true)
                #expect(try await Self.days(stack) == before)

                let swapped = try await stack.start(
                    ["swap", "steps", "--with", doubled, "--state", stack.state] + SwapTests.patience
                ).ended()
                #expect(
                    swapped.exit == .code(0) && swapped.output.contains("15 different"),
                    "\(swapped.output)\(swapped.error)")
                try await stack.interrupt(up)
                let again = try await stack.up("--until-idle").ended(within: 120)
                #expect(again.exit == .code(0), "\(again.error.suffix(2000))")
                let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
                // A night may begin on a day before the first day that has steps.
                let walked = days.filter { $0["steps"] != .null }
                #expect(walked.count >= 20 && walked.allSatisfy { $0["steps"] == 2 && $0["revision"] == 2 })

                // The swap can be undone while the stack is stopped, even though the plugin is gone.
                try FileManager.default.removeItem(atPath: doubled)
                let unusable = try await stack.onState("days")
                #expect(
                    unusable.exit == .code(0) && unusable.error.contains("healthbus swap steps --back"), "\(unusable)")
                let back = try await stack.onState("swap", "steps", "--back")
                #expect(back.exit == .code(0) && back.output.contains("from the next start on"), "\(back.error)")
                let last = try await stack.up("--until-idle").ended(within: 120)
                #expect(last.exit == .code(0), "\(last.error.suffix(2000))")
                let plain = { (text: String) in text.replacing(/"revision": \d+/, with: "") }
                #expect(try await plain(Self.days(stack)) == plain(before))
            }
        }

        /// If a new process has passed the trial but isn't ready in time, the old one comes back, and the command
        /// reports this.
        @Test func theOldOneComesBackByTheDeadline() async throws {
            try await Self.withDays { stack, up in
                let days = try await Self.days(stack)
                let old = try stack.pid(of: "steps")
                // A process that opens the file for writing waits for this transaction to end; reading isn't affected.
                let database = try Database(path: "\(stack.state)/steps/state.sqlite")
                try database.begin()
                // The time must be long enough to reach standby, which takes a while on a busy machine. The process
                // then waits for the file for the same length of time.
                for seconds in [1, 4, 16, 64] {
                    let before = up.error.count
                    let swap = try await stack.start([
                        "swap", "steps", "--with", "steps-python", "--within", "\(seconds)", "--state", stack.state,
                    ])
                    // The new process is killed, or gives up waiting for the file.
                    let isOver = {
                        let said = up.error.dropFirst(before)
                        return said.contains("(standby) didn't stop in time") || said.contains("to take steps's place")
                    }
                    try await until("the new one's end; \(up.error.suffix(500))") { isOver() || !swap.isRunning }
                    database.rollback()
                    let ended = try await swap.ended()
                    if seconds < 64, ended.error.contains("--within gives it more time") {
                        try database.begin()
                        continue
                    }
                    #expect(ended.exit == .code(1))
                    #expect(ended.error.contains("runs as before: the new plugin "), "\(ended.error)")
                    #expect(ended.error.contains(" before it was ready"), "\(ended.error)")
                    break
                }
                let new = try stack.pid(of: "steps")
                #expect(new != nil && new != old && !stack.recordsSwap)
                #expect(try SwapTests.runners(of: "steps", stack).count == 1)
                #expect(try await Self.days(stack) == days)
            }
        }

        /// The new process, or the supervisor with all its children, is killed (SIGKILL) at an arbitrary moment of a
        /// swap; afterwards, either the old or the new plugin is running.
        @Test func killedInTheMidstOfASwap() async throws {
            try await Self.withDays { stack, first in
                let days = try await Self.days(stack)
                var up = first
                var random = Seeded(1)
                for round in 0..<6 {
                    let swap = try await stack.start([
                        "swap", "steps", "--with", round % 2 == 0 ? "steps-python" : "steps", "--state", stack.state,
                    ])
                    var new: pid_t = 0
                    try await until("one that stands by", within: 20, every: 1) {
                        new = try SwapTests.runners(of: "steps", stack).first { $0.standsBy }?.pid ?? 0
                        return new != 0
                    }
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0..<250, using: &random)))
                    if round < 3 {
                        kill(new, SIGKILL)
                    } else {
                        up.child.kill()
                        try await until("the end of all", within: 5) {
                            stack.processes.allSatisfy { $0 == swap.child.pid }
                        }
                        up = try await stack.upAndReady()
                    }
                    _ = try await swap.ended(within: 60)
                    try await until("one that runs", within: 20) {
                        let runners = try SwapTests.runners(of: "steps", stack).map(\.pid)
                        return try runners.count == 1 && stack.pid(of: "steps") == runners.first
                    }
                }
                try await stack.interrupt(up)
                let ended = try await stack.up("--until-idle").ended(within: 120)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                #expect(try await Self.days(stack) == days)
            }
        }
    }
}
