import Glibc
import Processes
import TestSupport
import Testing

/// Limits that are extended when the machine is busy, but not when a process hangs.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct FairDeadlineTests {
    /// The time at which a limit of 10 s expires for processes that spend the given share of the time waiting for a
    /// processor.
    private func end(waiting share: Double) -> Duration {
        final class Clock { var time = Duration.zero }
        let clock = Clock()
        var deadline = FairDeadline(.seconds(10), now: { clock.time }, waited: { clock.time * share })
        while true {
            let left = deadline.left()
            if left <= .zero { return clock.time }
            clock.time += max(left, .milliseconds(1))
        }
    }

    @Test func whoNeverWaitsHasTheClocksTime() { #expect(end(waiting: 0) == .seconds(10)) }

    /// With two thirds of the time spent waiting, expiry takes three times as long, except for the part before the
    /// first check.
    @Test func whoWaitsHasTheTimeThatItHadAProcessor() {
        let end = end(waiting: 2.0 / 3)
        #expect(end > .seconds(27) && end <= .seconds(30), "\(end)")
    }

    @Test func nobodyHasForEver() { #expect(end(waiting: 1) == .seconds(100)) }

    /// Of two loops on one processor, each waits for the other; a process that sleeps doesn't wait for a processor.
    @Test func theKernelSaysWhoWaits() throws {
        let trampoline = ChildProcess.trampolineBesideProgram()
        let loop = """
            cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/self/status)
            exec taskset -c "$cpu" sh -c 'while :; do :; done'
            """
        let loops = try (0..<2).map { _ in try ChildProcess(shell(loop), trampoline: trampoline) }
        for child in loops {
            #expect(
                eventually { ProcessorWait.total(of: [child.pid]) - ProcessorWait.total(of: []) > .milliseconds(300) })
        }
        let sleeper = try ChildProcess(shell("exec sleep 1000"), trampoline: trampoline)
        var deadline = FairDeadline(.milliseconds(100), of: [sleeper.pid])
        #expect(sleeper.wait(until: &deadline) == nil)
        sleeper.kill()
        for child in loops { child.kill() }
        #expect(loops.allSatisfy { $0.wait() == .signal(SIGKILL) } && sleeper.wait() == .signal(SIGKILL))
    }
}
