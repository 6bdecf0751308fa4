import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// While one process hangs, all read-only commands still answer, and report how old the answer is.
    @Suite struct HangTests {
        private static let readings = [
            ["status"], ["days"], ["types"], ["tasks", "list"], ["explain", "steps", "2025-04-04"], ["check"],
            ["quarantine", "list"], ["dead-letters", "list"], ["top", "--once"], ["alerts"], ["history"],
            ["zone", "show"],
        ]

        @Test func aSyncSaysWhomItWaitsFor() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let steps = try #require(try stack.pid(of: "steps"))
                kill(steps, SIGSTOP)
                let sync = try await stack.start(["sync", "--state", stack.state])
                try await until("it says so") { sync.error.contains("healthbus: waiting: steps hasn't reported") }
                kill(steps, SIGCONT)
                let ended = try await sync.ended(within: 120)
                #expect(ended.exit == .code(0), "\(ended)")
                try await stack.interrupt(up)
            }
        }

        @Test func readersAnswerWhoeverHangs() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "5", "--seed", "3")
                let first = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                #expect(first.exit == .code(0), "\(first.error.suffix(2000))")
                let up = try await stack.upAndReady()
                var whole: [String: String] = [:]
                for (words, ended) in try await stack.read(Self.readings) {
                    #expect(ended.exit == .code(0), "\(words): \(ended.error)")
                    #expect(ended.error.contains("respond") == false, "\(words): \(ended.error)")
                    whole[words[0]] = ended.output
                }
                for hanging in ["observer", "debouncer", "consolidator", "uploader", "hub"] {
                    let pid = try #require(try stack.pid(of: hanging))
                    kill(pid, SIGSTOP)
                    for (words, ended) in try await stack.read(Self.readings) {
                        #expect(ended.exit == .code(0), "\(hanging) hangs, \(words): \(ended.error)")
                        #expect(!ended.output.isEmpty || whole[words[0]] == "", "\(hanging) hangs, \(words)")
                        // What is stored in files is shown completely.
                        if ["days", "explain"].contains(words[0]) {
                            #expect(ended.output == whole[words[0]], "\(hanging) hangs, \(words)")
                        }
                    }
                    let ill = try await stack.onState("doctor")
                    #expect(ill.exit == .code(1) && ill.output.contains("\(hanging): runs"), "\(ill.output)")
                    kill(pid, SIGCONT)
                    try await until("\(hanging) is heard again", within: 60, every: 100) {
                        try await stack.onState("ready").exit == .code(0)
                    }
                }
                let hub = try #require(try stack.pid(of: "hub"))
                kill(hub, SIGSTOP)
                for words in ["status", "alerts"] {
                    let deaf = try await stack.onState(words)
                    #expect(
                        deaf.error.components(separatedBy: "healthbus: ").count == 2
                            && deaf.error.hasPrefix("healthbus: 'hub' isn't passing messages on"),
                        "\(words): \(deaf.error)")
                }
                let advice = try await stack.onState("doctor").output
                #expect(advice.contains("'healthbus run hub --takeover --state \(stack.state)'"), "\(advice)")
                kill(hub, SIGCONT)
                try await until("the hub is heard again", within: 60, every: 100) {
                    try await stack.onState("ready").exit == .code(0)
                }
                let observer = try #require(try stack.pid(of: "observer"))
                kill(observer, SIGSTOP)
                let old = try await stack.onState("alerts", "--json")
                #expect(try old.exit == .code(0) && old.json() == [], "\(old)")
                #expect(
                    old.error.contains("'observer' is running but not responding")
                        && old.error.contains("this shows its data as of ")
                        && old.error.contains("'healthbus doctor --state \(stack.state)'"), "\(old.error)")
                let status = try await stack.onState("status", "--json").json()
                let row = status["processes"].array?.first { $0["name"] == "observer" }
                #expect(row?["state"] == "silent", "\(status["processes"])")
                kill(observer, SIGCONT)
                try await stack.interrupt(up)
            }
        }

        /// A command that needs a hanging process reports this quickly, sends it nothing, and ends with advice on what
        /// to do.
        @Test func writersSayWhomTheyWaitFor() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3", "--seed", "3")
                let up = try await stack.upAndReady()
                #expect(try await stack.onState("import", export).exit == .code(0))
                let other = try await stack.generate("other.zip", "--days", "4", "--seed", "5")
                let commands: [(instance: String, undone: String, words: [String])] = [
                    ("observer", "nothing was imported", ["import", other]),
                    ("steps", "no backup was made", ["backup", stack.path("backup")]),
                    ("observer", "nothing was retried", ["quarantine", "retry", "--all"]),
                    ("observer", "nothing was changed", ["types", "off", "StepCount"]),
                    ("observer", "nothing was changed", ["zone", "set", "Asia/Tokyo"]),
                    ("observer", "nothing was changed", ["device", "set", "locked=true"]),
                    ("steps", "nothing was replayed", ["replay", "steps", "--from", "2025-01-01"]),
                    ("steps", "nothing was reset", ["reset", "steps", "--yes"]),
                ]
                let pids = try ["observer", "steps"].map { try #require(try stack.pid(of: $0)) }
                for pid in pids { kill(pid, SIGSTOP) }
                var running: [Command] = []
                for command in commands {
                    running.append(try await stack.start(command.words + ["--state", stack.state]))
                }
                for (command, run) in zip(commands, running) {
                    let ended = try await run.ended(within: 60)
                    #expect(ended.exit == .code(1), "\(command.words): \(ended)")
                    for words in [
                        "waiting for '\(command.instance)', which is running but not responding\n",
                        "\(command.undone): '\(command.instance)' is running but not responding\nhint: restart it: "
                            + "'healthbus stop \(command.instance) --state \(stack.state)', then "
                            + "'healthbus start \(command.instance) --state \(stack.state)'; then run this again",
                    ] { #expect(ended.error.contains(words), "\(command.words): \(ended.error)") }
                    #expect(!ended.error.contains("this shows its data"), "\(command.words): \(ended.error)")
                }
                for pid in pids { kill(pid, SIGCONT) }
                try await until("both are heard again", within: 60, every: 100) {
                    try await stack.onState("ready").exit == .code(0)
                }
                #expect(try await stack.onState("zone", "show").output.contains("Europe/Berlin"))
                #expect(
                    try await stack.onState("import", other, "--json").json()["files"].array?.first?["added"].int ?? 0
                        > 0)
                try await stack.interrupt(up)
            }
        }
    }
}

extension TestStack {
    /// Runs the read-only commands, all at once.
    fileprivate func read(_ commands: [[String]]) async throws -> [(words: [String], ended: Command.Ended)] {
        var running: [(words: [String], command: Command)] = []
        for words in commands { running.append((words, try await start(words + ["--state", state]))) }
        var ended: [(words: [String], ended: Command.Ended)] = []
        for (words, command) in running { ended.append((words, try await command.ended())) }
        return ended
    }
}
