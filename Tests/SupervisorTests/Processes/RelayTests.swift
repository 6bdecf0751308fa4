import Glibc
import Processes
import TestSupport
import Testing

@Suite(.inTurn, .timeLimit(.minutes(30))) struct RelayTests {
    private func relay(
        _ script: String, within limit: Duration = .seconds(Patience.seconds), takes: () -> Bool = { true }
    ) throws -> (run: RelayedRun, output: String) {
        var output: [UInt8] = []
        let run = try ChildProcess.relay(
            shell(script), trampoline: ChildProcess.trampolineBesideProgram(), within: limit
        ) { bytes in
            output += bytes
            return takes()
        }
        return (run, String(decoding: output, as: UTF8.self))
    }

    @Test func passesOnOutputErrorsAndEnd() throws {
        let (run, output) = try relay("echo rows; echo why >&2; exit 3")
        #expect(run.end == .ended(.code(3)) && output == "rows\n" && run.error == Array("why\n".utf8))
        #expect(try relay("kill -6 $$").run.end == .ended(.signal(SIGABRT)))
        #expect(try relay("head -c 1000000 /dev/zero").output.utf8.count == 1_000_000)
    }

    @Test(arguments: ["exec sleep 1000", "exec yes", "exec >&- 2>&-; exec sleep 1000", "sleep 1000 & wait"])
    func endsWhatTakesTooLong(_ script: String) throws {
        #expect(try relay(script, within: .milliseconds(50)).run.end == .late)
    }

    @Test func leavesNoProcess() throws {
        var pid: pid_t = 0
        let (run, output) = try relay("echo $$; exec yes", takes: { false })
        pid = try #require(pid_t(output.split(separator: "\n").first ?? ""))
        #expect(run.end == .unread && !isRunning(pid))
    }

    @Test func aSlowReaderTakesNoneOfTheTime() throws {
        let limit = Duration.seconds(5)
        let (run, _) = try relay("echo rows", within: limit) {
            // Longer than the limit.
            usleep(5_100_000)
            return true
        }
        #expect(run.end == .ended(.code(0)))
    }
}
