import CPosix
import Configuration
import Foundation
import Glibc
import HealthModel
import Processes
import StageKit

/// A running program that computes days, and the pipes to it. Belongs to the thread that made it: the program gets
/// SIGKILL when that thread ends for any reason.
package final class ExecChild {
    private let process: ChildProcess
    /// The program's standard input; -1 once closed.
    private var input: Int32
    private let output: Int32
    private let wake: Int32
    private let limits: ExecLimits
    private let errors: ExecErrorOutput
    /// The plugin's folder.
    private let folder: String
    /// Bytes of a line that hasn't ended yet.
    private var partial: [UInt8] = []
    /// Whether the last exchange ended before everything was written: whatever is sent next would be read as the rest
    /// of it.
    package private(set) var hasUnwritten = false
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    package var pid: pid_t { process.pid }

    /// - Parameters:
    ///   - wake: readable once the host is stopping.
    ///   - said: receives the lines of its standard error, on a separate thread.
    package init(
        _ command: ExecCommand, program: String, name: String, wake: Int32, said: @escaping @Sendable (String) -> Void
    ) throws {
        let input = try Pipe()
        let output = try Pipe()
        let error = try Pipe()
        process = try ChildProcess(
            ProcessSpec(
                name: name, executable: program, arguments: Array(command.words.dropFirst()), directory: command.folder,
                streams: .init(input: input.read, output: output.write, error: error.write)),
            trampoline: ChildProcess.trampolineBesideProgram())
        self.input = input.takeWrite()
        self.output = output.takeRead()
        self.wake = wake
        limits = command.limits
        folder = command.folder
        errors = ExecErrorOutput(error.takeRead(), said)
        for descriptor in [self.input, self.output] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    deinit {
        closeInput()
        close(output)
    }

    /// One of three pairs of descriptors; none of them stays open when the start fails. Close-on-exec: no other child
    /// inherits them.
    private final class Pipe {
        private(set) var read: Int32 = -1
        private(set) var write: Int32 = -1

        init() throws(ExecFailure) {
            var ends: [Int32] = [-1, -1]
            let result = healthbus_pipe(&ends)
            guard result == 0 else {
                throw .cantStart("no pipe to the program: \(String(cString: strerror(-result)))")
            }
            (read, write) = (ends[0], ends[1])
        }

        func takeRead() -> Int32 {
            defer { read = -1 }
            return read
        }

        func takeWrite() -> Int32 {
            defer { write = -1 }
            return write
        }

        deinit { for end in [read, write] where end >= 0 { close(end) } }
    }

    /// How the program ended, if it has.
    package var ended: String? { process.poll().map { "\($0)" } }

    /// Whether the program has written anything since its last complete answer; that would be taken for another day's
    /// answer.
    package var hasSpokenUnasked: Bool {
        guard partial.isEmpty else { return true }
        let count = read(output, &buffer, buffer.count)
        return count > 0
    }

    /// Writes all parts, and reads the lines of the answer as they come, until the last one.
    /// - Parameters:
    ///   - parts: returns the next part; it is called when the previous part is written.
    ///   - seconds: the time from now to the last line, not counting the time in which the program waited for a
    ///     processor.
    ///   - take: receives one line without its newline; returns true for the last one.
    package func exchange(
        _ parts: () -> [UInt8]?, within seconds: Double, take: (ArraySlice<UInt8>) throws(ExecFailure) -> Bool
    ) throws(ExecFailure) {
        var deadline = FairDeadline(.seconds(seconds), of: [process.pid])
        var pending = parts()?[...]
        // A program that closes its input too early may still answer, but not for all of the day.
        var isDeaf = false
        defer { hasUnwritten = pending != nil }
        var bytes = 0
        var lines = 0
        while true {
            let left = deadline.left()
            var polled = [
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
                pollfd(fd: output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pending == nil || isDeaf ? -1 : input, events: Int16(POLLOUT), revents: 0),
            ]
            _ = poll(
                &polled, nfds_t(polled.count), left > .zero ? Int32(clamping: Int(left / .milliseconds(1)) + 1) : 0)
            if polled[0].revents != 0 { throw .stopped }
            if polled[3].revents != 0, let part = pending {
                (pending, isDeaf) = write(part, parts)
            }
            guard polled[1].revents != 0 || polled[2].revents != 0 else {
                // Output that has already arrived isn't late, even if this thread hasn't had a turn to read it.
                guard left > .zero else { throw .late(seconds: seconds) }
                continue
            }
            let count = read(output, &buffer, buffer.count)
            if count > 0 {
                bytes += count
                guard bytes <= limits.answer else { throw .flood(bytes: limits.answer) }
                partial += buffer[..<count]
                var isLast = false
                try takeLines { line throws(ExecFailure) in
                    lines += 1
                    isLast = try take(line)
                    return isLast
                }
                guard isLast else { continue }
                guard pending == nil else { throw .early }
                return
            }
            // Nothing to read yet, and it is alive.
            if count < 0, errno == EAGAIN || errno == EINTR, polled[2].revents == 0 { continue }
            throw .ended(
                howItEnds(), midLine: partial.isEmpty ? nil : lines + 1,
                why: ExecTrace.summary(of: errors.last(), folder: folder))
        }
    }

    /// What is left to write, nil when everything is written; and whether the program has closed its input.
    private func write(
        _ part: ArraySlice<UInt8>, _ parts: () -> [UInt8]?
    ) -> (rest: ArraySlice<UInt8>?, isDeaf: Bool) {
        let count = part.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
        // A program that stops reading is noticed when it ends or when its time is up.
        if count < 0 { return (part, errno != EAGAIN && errno != EINTR) }
        let rest = part.dropFirst(count)
        return (rest.isEmpty ? parts()?[...] : rest, false)
    }

    /// Passes on the complete lines available, up to the last one of an answer.
    private func takeLines(_ take: (ArraySlice<UInt8>) throws(ExecFailure) -> Bool) throws(ExecFailure) {
        var start = partial.startIndex
        defer { partial.removeSubrange(..<start) }
        while let end = partial[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = partial[start..<end]
            start = end + 1
            if try take(line) { return }
        }
    }

    /// The program has closed its output: it is ending, or no longer of any use.
    private func howItEnds() -> String {
        var deadline = FairDeadline(.seconds(1), of: [process.pid])
        return process.wait(until: &deadline).map { "\($0)" } ?? "it closed its standard output"
    }

    package func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Ends the program: once its input is closed, it should exit on its own within the grace period; anything left of
    /// its process group is killed.
    package func end(grace: Double) {
        closeInput()
        if grace > 0 {
            var deadline = FairDeadline(.seconds(grace), of: [process.pid])
            if process.wait(until: &deadline) != nil { return }
        }
        process.kill()
        process.wait()
    }
}
