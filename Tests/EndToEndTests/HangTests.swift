import Foundation
import Glibc
import HealthModel
import Supervisor
import Testing

extension EndToEnd {
    /// While one process hangs, whatever reads answers all the same, and says how old it is.
    @Suite(.serialized, .timeLimit(.minutes(10))) struct HangTests {
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
                try await until("it says so") { sync.error.contains("healthbus: waiting: steps hasn't been heard") }
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
                for words in Self.readings {
                    let ended = try await stack.start(words + ["--state", stack.state]).ended()
                    #expect(ended.exit == .code(0), "\(words): \(ended.error)")
                    #expect(ended.error.contains("doesn't answer") == false, "\(words): \(ended.error)")
                    whole[words[0]] = ended.output
                }
                for hanging in ["observer", "debouncer", "consolidator", "uploader", "hub"] {
                    let pid = try #require(try stack.pid(of: hanging))
                    kill(pid, SIGSTOP)
                    for words in Self.readings {
                        let ended = try await stack.start(words + ["--state", stack.state]).ended()
                        #expect(ended.exit == .code(0), "\(hanging) hangs, \(words): \(ended.error)")
                        #expect(!ended.output.isEmpty || whole[words[0]] == "", "\(hanging) hangs, \(words)")
                    }
                    // What is in the files is told in full.
                    for words in [["days"], ["explain", "steps", "2025-04-04"]] {
                        let ended = try await stack.start(words + ["--state", stack.state]).ended()
                        #expect(ended.output == whole[words[0]], "\(hanging) hangs, \(words)")
                    }
                    let ill = try await stack.onState("doctor")
                    #expect(ill.exit == .code(1) && ill.output.contains("\(hanging): runs"), "\(ill.output)")
                    kill(pid, SIGCONT)
                    try await until("\(hanging) is heard again", within: 60, every: 100) {
                        try await stack.onState("ready").exit == .code(0)
                    }
                }
                let observer = try #require(try stack.pid(of: "observer"))
                kill(observer, SIGSTOP)
                let old = try await stack.onState("alerts", "--json")
                #expect(try old.exit == .code(0) && old.json() == [], "\(old)")
                #expect(
                    old.error.contains("'observer' runs, but doesn't answer")
                        && old.error.contains("when it last wrote")
                        && old.error.contains("'healthbus doctor --state \(stack.state)'"), "\(old.error)")
                let status = try await stack.onState("status", "--json").json()
                let row = status["processes"].array?.first { $0["name"] == "observer" }
                #expect(row?["state"] == "silent", "\(status["processes"])")
                kill(observer, SIGCONT)
                try await stack.interrupt(up)
            }
        }
    }
}
