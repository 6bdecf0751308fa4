import CPosix
import Glibc

/// A program that was run to its end while its output was passed on.
package struct RelayedRun: Sendable, Equatable {
    package enum End: Sendable, Equatable {
        case ended(ProcessExit)
        /// It was killed because its time was over.
        case late
        /// It was killed because nobody took its output.
        case unread
    }

    package let end: End
    /// The beginning of what it wrote to standard error, at most what a pipe holds.
    package let error: [UInt8]
}

extension ChildProcess {
    private static let relayBytes = 64 << 10

    /// Runs a program to its end, on the caller's thread, and passes on its output as it comes. Memory use doesn't grow
    /// with the output.
    /// - Parameters:
    ///   - spec: its streams for output and errors are replaced.
    ///   - limit: how long it may take; then it's killed. The time that `write` takes isn't counted.
    ///   - write: receives its standard output; returns false when that couldn't be written.
    /// - Throws: `ProcessError` when it can't be started.
    package static func relay(
        _ spec: ProcessSpec, trampoline: String, within limit: Duration, write: (UnsafeBufferPointer<UInt8>) -> Bool
    ) throws(ProcessError) -> RelayedRun {
        let (output, errors) = (try RelayPipe(), try RelayPipe())
        var spec = spec
        (spec.streams.output, spec.streams.error) = (output.write, errors.write)
        let child = try ChildProcess(spec, trampoline: trampoline)
        output.closeWrite()
        errors.closeWrite()
        var left = limit
        var end = pass(from: output, within: &left, write: write)
        if end == nil { end = child.wait(for: left).map { .ended($0) } }
        if end == nil || end == .unread { child.kill() }
        // Whatever the child started is gone too, so that the pipe has an end.
        child.wait()
        return RelayedRun(end: end ?? .late, error: errors.readAll(atMost: relayBytes))
    }

    /// Returns nil once the output has ended or the time is over.
    private static func pass(
        from pipe: RelayPipe, within left: inout Duration, write: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> RelayedRun.End? {
        var buffer = [UInt8](repeating: 0, count: relayBytes)
        while left > .zero {
            let began = ContinuousClock.now
            var watched = pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0)
            let isReady = Glibc.poll(&watched, 1, left.pollMilliseconds) > 0
            left -= ContinuousClock.now - began
            guard isReady else { continue }
            let count = Glibc.read(pipe.read, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            guard buffer.withUnsafeBufferPointer({ write(UnsafeBufferPointer(rebasing: $0[..<count])) }) else {
                return .unread
            }
        }
        return nil
    }
}

/// Both ends close on exec, and with this object.
private final class RelayPipe {
    let read: Int32
    private(set) var write: Int32

    init() throws(ProcessError) {
        var ends: [Int32] = [-1, -1]
        let result = healthbus_pipe(&ends)
        guard result == 0 else {
            throw ProcessError(
                .system, "can't make a pipe", errorNumber: -result,
                hint: "this process may have too many files open ('ulimit -n')")
        }
        (read, write) = (ends[0], ends[1])
    }

    deinit {
        close(read)
        closeWrite()
    }

    func closeWrite() {
        if write >= 0 { close(write) }
        write = -1
    }

    func readAll(atMost limit: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let got = bytes.withUnsafeMutableBytes {
                Glibc.read(read, $0.baseAddress?.advanced(by: count), limit - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { break }
            count += got
        }
        return Array(bytes[..<count])
    }
}
