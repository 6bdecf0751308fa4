import Foundation
import Glibc
import Inspection
import Logging
import Processes

/// The process that runs a person's SQL: this same program with the same words. One function of SQL may take any time
/// and memory, so the limits are kept from outside.
enum QueryProcess {
    private static let variable = "HEALTHBUS_QUERY_CHILD"

    /// Whether this process is that one.
    static var isThisOne: Bool { ProcessInfo.processInfo.environment[variable] == "1" }

    /// The parent's standard output, as that process's standard input: whether it's a terminal, and how wide.
    static let screen = StandardStream(descriptor: STDIN_FILENO)

    /// Runs it to its end, and passes on its rows.
    /// - Parameter limit: how long it may compute; the time until somebody takes its rows isn't counted.
    /// - Throws: `Quiet` with its exit code once it has reported what was wrong; `Failure` if it had to be ended.
    static func run(within limit: Duration) throws {
        let screen = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        defer { if screen >= 0 { close(screen) } }
        let run = try ChildProcess.relay(
            ProcessSpec(
                name: "the query", executable: ChildProcess.ownProgram(),
                arguments: Array(CommandLine.arguments.dropFirst()),
                // Memory that runs out is a crash, and a crash report would show what was in memory.
                environment: [variable: "1", "SWIFT_BACKTRACE": "enable=no"],
                streams: .init(input: screen >= 0 ? screen : nil)),
            trampoline: ChildProcess.trampolineBesideProgram(), within: limit
        ) { StandardStream.output.write($0) }
        switch run.end {
        case .ended(.code(let code)):
            _ = run.error.withUnsafeBufferPointer { StandardStream.error.write($0) }
            guard code == 0 else { throw Quiet(ExitCode(rawValue: code) ?? .failed) }
        case .ended(let signal): throw BackendQuery.tooLarge(endedBy: signal)
        case .late: throw BackendQuery.tookTooLong(limit)
        case .unread: throw RowOutput.unread
        }
    }
}
