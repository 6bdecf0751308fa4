import Glibc

/// Standard output or error, unbuffered: each call of `write` is a single write if the system allows.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// Returns false when the other side is gone or the disk is full; a message about that would have no reader anyway.
    @discardableResult
    package func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { write($0) }
    }

    /// Writes bytes of data; the caller must check whether they were written.
    package func write(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written < 0, errno == EAGAIN {
                var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&watched, 1, -1)
            } else if written == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}
