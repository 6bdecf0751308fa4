import Foundation
import Glibc
import Processes
import Supervisor
import Synchronization
import TestSupport
import Testing

/// Real processes. A test that handles signals or dies runs in a process of its own (an exit test), which reports
/// through files in the folder.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct SupervisorRunTests {
    /// A child that writes its id to a file `<name>` and then keeps running; `exec` keeps its id.
    static func marked(_ name: String, in folder: String, group: Int = 0, script: String = "exec sleep 1000")
        -> ProcessSpec
    {
        ProcessSpec(
            name: name, executable: "/bin/sh",
            arguments: [
                "-c", "echo $$ > \(folder)/\(name).new; mv \(folder)/\(name).new \(folder)/\(name); \(script)",
            ],
            group: group, restart: RestartPolicy(base: .milliseconds(1)))
    }

    static func pid(_ name: String, in folder: String) -> pid_t? {
        let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
        return text.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// A supervisor whose processes are ready as soon as the file with their id exists.
    static func supervisor(
        _ specs: [ProcessSpec], in folder: String, onEvent: @escaping Supervisor.OnEvent = { _ in }
    ) throws -> Supervisor {
        try Supervisor(specs, isReady: { pid($0, in: folder) == $1 }, onEvent: onEvent)
    }

    /// Runs a supervisor on its own thread while `body` uses it, then stops it.
    private func running(_ supervisor: Supervisor, _ body: () throws -> Void) throws {
        let outcome = Mutex<String?>(nil)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            do {
                try supervisor.run(handlingSignals: false)
            } catch {
                outcome.withLock { $0 = "\(error)" }
            }
            done.signal()
        }
        thread.start()
        defer {
            supervisor.stop()
            #expect(done.wait(timeout: Patience.timeout) == .success)
            #expect(outcome.withLock(\.self) == nil)
        }
        try body()
    }

    @Test func startsInOrderAndStopsInReverse() async throws {
        try await withFolder { folder in
            let notices = Mutex<[SupervisorNotice]>([])
            let specs = [
                Self.marked("uploader", in: folder.path, group: 2), Self.marked("observer", in: folder.path, group: 1),
                Self.marked("hub", in: folder.path),
            ]
            let supervisor = try Self.supervisor(specs, in: folder.path) { notice in
                notices.withLock { $0.append(notice) }
            }
            try running(supervisor) {
                #expect(eventually { supervisor.statuses.allSatisfy { $0.state == .ready } })
            }
            let names = notices.withLock(\.self).compactMap { notice -> String? in
                switch notice {
                case .started(let name, _): "+\(name)"
                case .ready(let name): "!\(name)"
                case .stopped(let name, .signal(SIGTERM)): "-\(name)"
                default: nil
                }
            }
            #expect(
                names == [
                    "+hub", "!hub", "+observer", "!observer", "+uploader", "!uploader", "-uploader", "-observer",
                    "-hub",
                ])
            #expect(supervisor.statuses.allSatisfy { $0.state == .stopped && $0.pid == nil })
        }
    }

    @Test func startsAgainWhatWasKilled() async throws {
        try await withFolder { folder in
            let supervisor = try Self.supervisor([Self.marked("steps", in: folder.path)], in: folder.path)
            try running(supervisor) {
                for round in 1...5 {
                    #expect(eventually { supervisor.statuses[0].state == .ready })
                    let pid = try #require(supervisor.statuses[0].pid)
                    kill(pid, SIGKILL)
                    #expect(
                        eventually { supervisor.statuses[0].restarts == round && supervisor.statuses[0].pid != pid })
                    #expect(supervisor.statuses[0].lastExit == .signal(SIGKILL))
                }
            }
        }
    }

    @Test func stopsStartsAndReplacesOneByName() async throws {
        try await withFolder { folder in
            let supervisor = try Self.supervisor([Self.marked("steps", in: folder.path)], in: folder.path)
            try running(supervisor) {
                #expect(eventually { supervisor.statuses[0].state == .ready })
                supervisor.stop("steps")
                #expect(eventually { supervisor.statuses[0].state == .stopped })
                supervisor.start("steps")
                #expect(eventually { supervisor.statuses[0].state == .ready })
                let other = "echo new > \(folder.path)/which; exec sleep 1000"
                supervisor.replace(Self.marked("steps", in: folder.path, script: other))
                #expect(eventually { access("\(folder.path)/which", F_OK) == 0 })
                #expect(eventually { supervisor.statuses[0].state == .ready })
            }
        }
    }

    @Test func killsWhatIgnoresTheSignalOrIsPaused() async throws {
        try await withFolder { folder in
            var deaf = Self.marked("deaf", in: folder.path, script: "trap '' TERM; while :; do sleep 1000; done")
            deaf.stopWithin = .milliseconds(50)
            let paused = Self.marked("paused", in: folder.path)
            let supervisor = try Self.supervisor([deaf, paused], in: folder.path)
            try running(supervisor) {
                #expect(eventually { supervisor.statuses.allSatisfy { $0.state == .ready } })
                let pid = try #require(supervisor.statuses[1].pid)
                kill(pid, SIGSTOP)
            }
            // The trap is set after the mark: until then, either signal may end the process; afterwards, only SIGKILL
            // can.
            #expect(supervisor.statuses[0].lastExit != nil)
            #expect(supervisor.statuses[1].lastExit == .signal(SIGTERM))
        }
    }

    @Test func readinessCanBeReportedInsteadOfAsked() async throws {
        let supervisor = try Supervisor([shell("exec sleep 1000", name: "steps")], isReady: { _, _ in false })
        try running(supervisor) {
            #expect(eventually { supervisor.statuses[0].pid != nil })
            supervisor.noteReady("steps")
            #expect(eventually { supervisor.statuses[0].state == .ready })
        }
    }

    @Test func oneInterruptStopsAllCleanly() async throws {
        try await withFolder { folder in
            let path = folder.path
            await #expect(processExitsWith: .success) { [path = path as String] in
                let drains = "trap 'echo done > \(path)/drained; exit 0' TERM; while :; do sleep 0.01; done"
                let specs = [
                    Self.marked("hub", in: path),
                    Self.marked("steps", in: path, group: 1, script: "touch \(path)/armed; \(drains)"),
                ]
                Supervisor.blockSignals()
                let supervisor = try Self.supervisor(specs, in: path)
                // The interrupt is raised exactly once, when all processes are up: a repeated one would count as a
                // second.
                let interrupt = Thread {
                    let isUp = eventually {
                        supervisor.statuses.allSatisfy { $0.state == .ready } && access("\(path)/armed", F_OK) == 0
                    }
                    if !isUp { exit(9) }
                    usleep(20_000)
                    kill(getpid(), SIGHUP)
                    kill(getpid(), SIGINT)
                }
                interrupt.start()
                try supervisor.run()
                guard supervisor.statuses.map(\.lastExit) == [.signal(SIGTERM), .code(0)] else { exit(8) }
                exit(0)
            }
            #expect(access("\(path)/drained", F_OK) == 0)
            for name in ["hub", "steps"] {
                let pid = try #require(Self.pid(name, in: path))
                #expect(!isRunning(pid))
            }
        }
    }

    @Test func aSecondInterruptKillsAtOnce() async throws {
        try await withFolder { folder in
            let path = folder.path
            await #expect(processExitsWith: .success) { [path = path as String] in
                var deaf = Self.marked(
                    "deaf", in: path, script: "trap '' TERM; touch \(path)/armed; while :; do sleep 1; done")
                deaf.stopWithin = .seconds(1000)
                let stopping = Mutex(false)
                let supervisor = try Self.supervisor([deaf], in: path) { notice in
                    if notice == .stopping { stopping.withLock { $0 = true } }
                }
                let interrupt = Thread {
                    guard eventually({ access("\(path)/armed", F_OK) == 0 }) else { exit(9) }
                    kill(getpid(), SIGTERM)
                    guard eventually({ stopping.withLock(\.self) }) else { exit(10) }
                    kill(getpid(), SIGINT)
                }
                interrupt.start()
                try supervisor.run()
                guard supervisor.statuses[0].lastExit == .signal(SIGKILL) else { exit(8) }
                exit(0)
            }
        }
    }

    /// Even a process that is paused, or ignores every other signal, ends with the supervisor.
    @Test func killingTheSupervisorLeavesNoOrphan() async throws {
        try await withFolder { folder in
            let path = folder.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let names = ["hub", "observer", "paused", "deaf"]
                let specs = names.map {
                    Self.marked(
                        $0, in: path,
                        script: $0 == "deaf" ? "trap '' TERM INT HUP; while :; do :; done" : "exec sleep 1000")
                }
                let supervisor = try Self.supervisor(specs, in: path)
                let killer = Thread {
                    guard eventually({ supervisor.statuses.allSatisfy { $0.state == .ready } }) else { exit(9) }
                    if let pid = Self.pid("paused", in: path) { kill(pid, SIGSTOP) }
                    kill(getpid(), SIGKILL)
                }
                killer.start()
                try supervisor.run()
            }
            for name in ["hub", "observer", "paused", "deaf"] {
                let pid = try #require(Self.pid(name, in: path))
                #expect(eventually { !isRunning(pid) })
            }
        }
    }
}
