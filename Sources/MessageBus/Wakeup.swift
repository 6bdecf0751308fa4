import Glibc

/// Wakes a thread that polls: a pipe whose read end is in its poll set. Any thread may signal.
package final class Wakeup: Sendable {
    package let readEnd: Int32
    private let writeEnd: Int32

    package init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BusError(operation: "make a pipe", endpoint: "", code: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    package func signal() {
        var byte: UInt8 = 1
        // A full pipe means that a wake-up is already on its way.
        _ = write(writeEnd, &byte, 1)
    }

    package func drain() {
        var buffer = [UInt8](repeating: 0, count: 64)
        while read(readEnd, &buffer, buffer.count) > 0 {}
    }
}
