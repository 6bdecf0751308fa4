import Foundation
import Glibc
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Somebody's SQL may ask for anything; the process that runs it gets so much time and memory, and no more.
    @Suite struct QueryLimitTests {
        private static let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"

        private func withBackend(_ body: (TestStack) async throws -> Void) async throws {
            try await withStack { stack in
                #expect(try await stack.up("--until-idle").ended().exit == .code(0))
                try await body(stack)
            }
        }

        private func query(_ stack: TestStack, _ sql: String, _ more: String...) async throws -> Command {
            try await stack.start(["query", sql, "--state", stack.state] + more)
        }

        private func children(of command: Command) -> [pid_t] {
            let pid = command.child.pid
            let text = FileManager.default.contents(atPath: "/proc/\(pid)/task/\(pid)/children") ?? Data()
            return String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
        }

        /// The most that a process has held at once, in bytes; 0 once it has ended.
        private func peak(of pid: pid_t) -> Int {
            let status = FileManager.default.contents(atPath: "/proc/\(pid)/status") ?? Data()
            let found = String(decoding: status, as: UTF8.self).firstMatch(of: #/VmHWM:\s+(\d+) kB/#)
            return (found.flatMap { Int($0.1) } ?? 0) << 10
        }

        /// Runs a query to its end, and watches both of its processes.
        private func watched(
            _ stack: TestStack, _ sql: String, _ more: String...
        ) async throws -> (ended: Command.Ended, parent: Int, child: Int) {
            let command = try await stack.start(["query", sql, "--state", stack.state] + more)
            var (parent, child) = (0, 0)
            try await until("the end of the query") {
                parent = max(parent, peak(of: command.child.pid))
                child = max(child, children(of: command).map(peak).max() ?? 0)
                return !command.isRunning
            }
            return (try await command.ended(), parent, child)
        }

        /// A loop of SQLite's own machine, one call of a function, and a join without end.
        @Test func aQueryEndsInTime() async throws {
            try await withBackend { stack in
                for sql in [
                    "\(Self.numbers)) SELECT count(*) FROM n", "SELECT length(randomblob(1000000000))",
                    "\(Self.numbers) LIMIT 1000000) SELECT sum(a.i * b.i) FROM n a, n b",
                ] {
                    let ended = try await query(stack, sql, "--seconds", "1").ended()
                    #expect(ended.exit == .code(1), "\(sql)")
                    #expect(
                        ended.error.contains("took longer than 1 s") && ended.error.contains("hint: ask for less"),
                        "\(ended.error)")
                }
            }
        }

        @Test func aQueryGetsOnlySoMuchMemory() async throws {
            try await withBackend { stack in
                for sql in [
                    "SELECT randomblob(1000000000)",
                    "\(Self.numbers) LIMIT 60) SELECT i, hex(zeroblob(40000000)) AS a FROM n ORDER BY a",
                ] {
                    let (ended, parent, child) = try await watched(stack, sql, "--seconds", "3600", "--csv")
                    #expect(ended.exit == .code(1), "\(sql)")
                    #expect(
                        ended.error.contains("of memory\nhint: ask for fewer rows") && !ended.error.contains("Fatal"),
                        "\(ended.error)")
                    #expect(child > 100 << 20 && child <= 2 << 30, "\(child >> 20) MiB")
                    #expect(parent < 100 << 20, "\(parent >> 20) MiB")
                }
            }
        }

        @Test func rowsAreHeldByNeitherProcess() async throws {
            try await withBackend { stack in
                let sql = "\(Self.numbers) LIMIT 1000) SELECT i, hex(zeroblob(50000)) AS a FROM n"
                let (ended, parent, child) = try await watched(stack, sql, "--csv")
                #expect(ended.exit == .code(0) && ended.error.isEmpty, "\(ended.error)")
                #expect(ended.output.utf8.count > 100_000_000)
                #expect(parent < 90 << 20 && child < 90 << 20, "\(parent >> 20) and \(child >> 20) MiB")
            }
        }

        @Test(arguments: [SIGINT, SIGKILL]) func whatEndsTheCommandEndsTheQuery(_ signal: Int32) async throws {
            try await withBackend { stack in
                let command = try await query(stack, "\(Self.numbers)) SELECT count(*) FROM n")
                var child: pid_t?
                try await until("the query's own process") {
                    child = children(of: command).first
                    return child != nil
                }
                command.child.signal(signal)
                #expect(try await command.ended().exit == .signal(signal))
                let pid = try #require(child)
                try await until("the end of the query's process") { !isRunning(pid) }
            }
        }
    }
}
