import Foundation
import Glibc
import HealthModel
import Processes
import Synchronization
import TestSupport
import Testing

/// One of the stack's programs, running as a process. The process ends with this object, or when the test's process
/// dies.
final class RunningProgram: Sendable {
    private let started = Mutex<Result<pid_t, any Error>?>(nil)
    private let ending = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let outcome = Mutex<ProcessExit?>(nil)

    init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        let trampoline = ChildProcess.trampolineBesideProgram()
        let folder = URL(fileURLWithPath: trampoline).deletingLastPathComponent().path
        // The manifests are in the checkout, or beside the programs.
        var environment = environment
        environment["HEALTHBUS_LOG_LEVEL"] = "error"
        let spec = ProcessSpec(
            name: name, executable: folder + "/" + name, arguments: arguments, environment: environment)
        // A child is signalled when the thread that started it ends, so this thread lives as long as the child should.
        let thread = Thread { [self] in
            do {
                let child = try ChildProcess(spec, trampoline: trampoline)
                started.withLock { $0 = .success(child.pid) }
                ending.wait()
                child.signal(SIGTERM)
                let exit = child.wait(for: .seconds(Patience.seconds))
                if exit == nil { child.kill() }
                outcome.withLock { $0 = exit }
            } catch { started.withLock { $0 = .failure(error) } }
            ended.signal()
        }
        thread.start()
        try #require(eventually { started.withLock { $0 != nil } })
        _ = try pid
    }

    var pid: pid_t {
        get throws { try #require(try started.withLock(\.self)?.get()) }
    }

    /// Asks the program to end, and returns how it ended; nil if it had to be killed.
    func stop() -> ProcessExit? {
        ending.signal()
        ended.wait()
        return outcome.withLock(\.self)
    }

    /// The most memory that the process ever had resident, in bytes.
    var peakMemory: Int64 {
        get throws { ResidentMemory.peak(of: "\(try pid)") }
    }
}

/// Memory of a process.
enum ResidentMemory {
    /// The most memory that it ever had resident, in bytes (VmHWM of /proc/<process>/status).
    static func peak(of process: String = "self") -> Int64 {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int64($0) } ?? 0) * 1024
    }
}
