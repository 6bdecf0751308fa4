import Foundation
import Glibc
import Processes
import Testing

extension EndToEnd {
    /// Which process may run as an instance: only one at a time, then the next in line, or one that takes over.
    @Suite struct InstanceTests {
        @Test func standbyAndTakeover() async throws {
            try await withStack { stack in
                let hub = try await stack.onlyStart("run", "hub")
                try await until("the hub") { hub.error.contains("hub.listening") }
                let first = try await stack.onlyStart("run", "steps")
                try await until("the first") { try stack.pid(of: "steps") == first.child.pid }

                let second = try await stack.onState("run", "steps")
                #expect(second.exit == .code(1))
                let said = "'steps' is already running in \(stack.state) (process \(first.child.pid))"
                #expect(second.error.contains(said))
                #expect(second.error.contains("hint:") && second.error.contains("--takeover"), "\(second.error)")

                let standby = try await stack.onlyStart("run", "steps", "--standby")
                try await until("the standby") { standby.error.contains("instance.standby") }
                let spare = try await stack.onlyStart("run", "steps", "--standby")
                try await until("the spare") { spare.error.contains("instance.standby") }
                // A waiting process can be asked to end, which isn't a failure.
                spare.child.signal(SIGTERM)
                #expect(try await spare.ended(within: 10).exit == .code(0))
                #expect(try stack.pid(of: "steps") == first.child.pid && first.isRunning && standby.isRunning)

                first.child.kill()
                try await until("the standby in its place", within: 10) {
                    try stack.pid(of: "steps") == standby.child.pid
                }
                let third = try await stack.onlyStart("run", "steps", "--takeover")
                let ended = try await standby.ended(within: 10)
                #expect(ended.exit == .code(0) && ended.error.contains("instance.stopped"), "\(ended.error)")
                try await until("the third", within: 10) { try stack.pid(of: "steps") == third.child.pid }
                for command in [third, hub] {
                    command.child.signal(SIGTERM)
                    #expect(try await command.ended(within: 10).exit == .code(0))
                }
            }
        }

        /// The second signal ends everything at once, even what is still draining; nothing is left behind.
        @Test func aSecondSignalKillsAndLeavesNoSocket() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                // A hub that is suspended can't have removed its own sockets. The two signals differ, since two
                // identical ones might arrive as one.
                kill(try #require(try stack.pid(of: "hub")), SIGSTOP)
                up.child.signal(SIGTERM)
                up.child.signal(SIGINT)
                // After only the first signal, the hub would get ten seconds, and then be reported as late.
                #expect(!(try await up.ended()).error.contains("didn't stop in time"))
                #expect(stack.processes.isEmpty)
                #expect(try FileManager.default.contentsOfDirectory(atPath: stack.state + "/run") == [])
                let again = try await stack.up("--until-idle").ended()
                #expect(again.exit == .code(0), "\(again.error.suffix(2000))")
            }
        }

        /// A stack that can't start because another stack's hub is running leaves that hub's sockets alone.
        @Test func anotherHubKeepsItsSockets() async throws {
            try await withStack { stack in
                let hub = try await stack.onlyStart("run", "hub")
                try await until("the hub") { hub.error.contains("hub.listening") }
                let up = try await stack.up("--until-idle").ended()
                #expect(up.exit == .code(1) && up.error.contains("'hub' can't start"), "\(up.error.suffix(2000))")
                let sockets = try FileManager.default.contentsOfDirectory(atPath: stack.state + "/run").sorted()
                #expect(sockets == ["pub", "sub"] && hub.isRunning)
            }
        }
    }
}

extension TestStack {
    /// Starts a command that takes `--state`, and returns at once.
    func onlyStart(_ words: String...) async throws -> Command {
        try await start(words + ["--state", state])
    }
}
