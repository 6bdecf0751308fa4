import CPosix
import Console
import Glibc

/// Waits until one of several files grows or gets a new name.
final class LogWatch: Sendable {
    private let notices: Int32
    private let wakeUp: Int32
    private let paths: [String]

    /// - Throws: `Failure` when the system refuses what watching takes.
    init(_ paths: [String]) throws(Failure) {
        self.paths = paths
        notices = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        wakeUp = healthbus_wake_open()
        guard notices >= 0, wakeUp >= 0 else {
            throw Failure("the system has no notices of files left", hint: "close some programs that watch files")
        }
    }

    deinit {
        close(notices)
        close(wakeUp)
    }

    /// Ends the wait; from any thread.
    func wake() { healthbus_wake(wakeUp) }

    /// Names what is watched for: before a look at the files, so that nothing comes between. A file that is there under a name since is
    /// found by it; one that isn't there yet by the next second's look.
    func arm() {
        for path in paths { inotify_add_watch(notices, path, UInt32(IN_MODIFY | IN_MOVE_SELF)) }
    }

    /// Blocks until something has changed or been woken, at most a second.
    func wait() {
        var watched = [
            pollfd(fd: notices, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
        ]
        poll(&watched, 2, 1000)
        var room = [UInt8](repeating: 0, count: 8192)
        while read(notices, &room, room.count) > 0 {}
        healthbus_wake_clear(wakeUp)
    }
}
