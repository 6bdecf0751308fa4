import Glibc

/// Standard output or error, unbuffered: what is given to `write` goes out in one piece where the system takes it so.
public struct StandardStream: Sendable {
    public static let output = StandardStream(descriptor: STDOUT_FILENO)
    public static let error = StandardStream(descriptor: STDERR_FILENO)

    public let descriptor: Int32

    public init(descriptor: Int32) { self.descriptor = descriptor }

    /// False when the other side is gone or the disk is full: for a message to people there is nobody left to tell.
    @discardableResult
    public func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
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
}
