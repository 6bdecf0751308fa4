import Foundation
import Glibc
import Processes
import Testing

extension EndToEnd {
    /// An instance that is the first process of its container, where no supervisor runs, is swapped by a command in that
    /// container. A container is a pid namespace here.
    @Suite struct ContainerSwapTests {
        private static func container(_ words: String..., on stack: TestStack) async throws -> (Command, pid_t) {
            let command = try await stack.start(
                program: "/usr/bin/unshare",
                [
                    "-p", "-f", "--mount-proc", "--kill-child", Programs.healthbus, "run", "sleep", "--state",
                    stack.state,
                ]
                    + words)
            var pid: pid_t = 0
            try await until("the lock: \(command.error)") {
                pid = try SwapTests.runners(of: "sleep", stack).first { $0.pid != command.child.pid }?.pid ?? 0
                return pid != 0 && stack.logged("instance.started", by: command)
            }
            return (command, pid)
        }

        private static func swap(_ words: String..., in pid: pid_t, of stack: TestStack) async throws -> Command.Ended {
            try await stack.start(
                program: "/usr/bin/nsenter",
                ["-t", "\(pid)", "-p", "-m", Programs.healthbus, "swap", "sleep", "--state", stack.state] + words
                    + SwapTests.patience
            ).ended(within: 60)
        }

        @Test(.enabled(if: DiskFullTests.canMount, "needs the right to make a pid namespace"))
        func oneCommandInTheContainer() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "30", "--records", "1500", "--seed", "4")
                let up = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                #expect(up.exit == .code(0), "\(up.error.suffix(2000))")
                var others: [Command] = []
                for name in ["hub", "backend", "observer", "debouncer", "consolidator", "uploader"] {
                    others.append(try await stack.onlyStart("run", name))
                }
                let none = try EventSwapTests.plugin("none", like: "sleep", kind: "night", on: stack, "pass")
                var (first, pid) = try await Self.container(on: stack)

                let refused = try await Self.swap("--with", none, in: pid, of: stack)
                #expect(refused.exit == .code(1) && refused.error.contains("would delete"), "\(refused)")
                #expect(first.isRunning && !stack.recordsSwap)

                let swapped = try await Self.swap("--with", "sleep-python", in: pid, of: stack)
                #expect(swapped.exit == .code(0) && swapped.output.contains("keeps "), "\(swapped)")
                #expect(try await first.ended(within: 20).exit == .code(0))
                (first, pid) = try await Self.container(on: stack)
                let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
                #expect(String(decoding: line, as: UTF8.self).contains("healthbus-exec"))

                let back = try await Self.swap("--back", in: pid, of: stack)
                #expect(back.exit == .code(0) && !stack.recordsSwap, "\(back)")
                #expect(try await first.ended(within: 20).exit == .code(0))
                (first, pid) = try await Self.container("--plugin", "sleep", on: stack)
                let named = try await Self.swap("--with", "sleep-python", in: pid, of: stack)
                #expect(named.exit == .code(1) && named.error.contains("leave --plugin out"), "\(named)")
                for command in others + [first] { command.child.signal(SIGTERM) }
                for command in others { _ = try await command.ended(within: 20) }
            }
        }
    }
}

extension TestStack {
    fileprivate func logged(_ event: String, by command: Command) -> Bool { command.error.contains(event) }
}
