import CPosix
import Glibc
import Logging
import Synchronization

/// Waits until one of several files grows or is renamed.
final class LogWatch: Sendable {
    private let notices: Int32
    private let wakeUp: Int32
    private let paths: [String]
    /// Whether every file that exists is being watched; used only by the thread that arms and waits.
    private let isArmed = Atomic(false)

    /// - Throws: `Failure` if the system refuses the resources that watching needs.
    init(_ paths: [String]) throws(Failure) {
        self.paths = paths
        notices = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        wakeUp = healthbus_wake_open()
        guard notices >= 0, wakeUp >= 0 else {
            throw Failure("the system can't watch any more files", hint: "close some programs that watch files")
        }
    }

    deinit {
        close(notices)
        close(wakeUp)
    }

    /// Ends the wait; may be called from any thread.
    func wake() { healthbus_wake(wakeUp) }

    /// Registers what is watched; call it before checking the files, so that nothing is missed in between.
    func arm() {
        guard !isArmed.load(ordering: .relaxed) else { return }
        var all = true
        for path in paths {
            // The watch on the folder reports when a file with that name appears later: the first one, or its
            // successor.
            let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            all = inotify_add_watch(notices, folder, UInt32(IN_CREATE | IN_MOVED_TO | IN_MOVE_SELF)) >= 0 && all
            all = (inotify_add_watch(notices, path, UInt32(IN_MODIFY)) >= 0 || errno == ENOENT) && all
        }
        isArmed.store(all, ordering: .relaxed)
    }

    /// Blocks until something has changed or another thread ends the wait; for at most a second if not everything can
    /// be watched.
    func wait() {
        var watched = [
            pollfd(fd: notices, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
        ]
        poll(&watched, 2, isArmed.load(ordering: .relaxed) ? -1 : 1000)
        var room = [UInt8](repeating: 0, count: 8192)
        while true {
            let count = read(notices, &room, room.count)
            guard count > 0 else { break }
            if Self.hasNewNames(room.prefix(count)) { isArmed.store(false, ordering: .relaxed) }
        }
        healthbus_wake_clear(wakeUp)
    }

    /// Whether any of these notifications (inotify(7)) is about more than a file that grew.
    private static func hasNewNames(_ notices: ArraySlice<UInt8>) -> Bool {
        notices.withUnsafeBytes { bytes in
            var at = 0
            while at + MemoryLayout<inotify_event>.size <= bytes.count {
                let notice = bytes.loadUnaligned(fromByteOffset: at, as: inotify_event.self)
                if notice.mask & UInt32(IN_MODIFY) == 0 { return true }
                at += MemoryLayout<inotify_event>.size + Int(notice.len)
            }
            return false
        }
    }
}
