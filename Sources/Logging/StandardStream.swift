import Glibc

/// Standard output or error, unbuffered: what is given to `write` goes out in one piece where the system takes it so.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// False when the other side is gone or the disk is full: for a message to people there is nobody left to tell.
    @discardableResult
    package func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { write($0) }
    }

    /// As above: bytes of data, of which whoever makes them must know whether they went out.
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
