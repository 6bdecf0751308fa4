import CPosix
import Clocks
import Foundation
import Glibc
import HealthModel

/// Keeps out a second process with the same identity. It is an exclusive lock on a file in the instance's state folder,
/// held until this object is released or the process ends.
///
/// The file names its holder by process id and start time, so that a takeover can end exactly that process. It can do
/// so only within the same boot and pid namespace, since in a different container the same id means a different
/// process.
package final class InstanceLock: Sendable {
    private let descriptor: Int32

    struct Holder: Equatable {
        var pid: Int32
        var start: Int64
        var boot: String
        var namespace: String
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Takes the lock without waiting; nil when another process holds it.
    /// - Throws: `LockError` when the file can't be used at all.
    package static func take(folder: String) throws -> InstanceLock? {
        let path = folder + "/lock"
        let descriptor = healthbus_lock_file(path)
        if descriptor == -EWOULDBLOCK { return nil }
        guard descriptor >= 0 else { throw LockError(path: path, code: -descriptor) }
        let holder = current()
        let record: Value = [
            "pid": .integer(Int64(holder.pid)), "start": .integer(holder.start), "boot": .string(holder.boot),
            "namespace": .string(holder.namespace),
        ]
        let text = Array(record.json().utf8)
        // Written over the last holder's record and only then shortened: on a full disk, room once given up is lost.
        guard pwrite(descriptor, text, text.count, 0) == text.count, ftruncate(descriptor, off_t(text.count)) == 0
        else {
            let code = errno
            close(descriptor)
            throw LockError(path: path, code: code)
        }
        return InstanceLock(descriptor: descriptor)
    }

    /// Takes the lock, waiting for up to `seconds` for the holder to end.
    package static func take(folder: String, waiting seconds: Double) throws -> InstanceLock? {
        let deadline = MonotonicClock.now + .seconds(seconds)
        while true {
            if let lock = try take(folder: folder) { return lock }
            if MonotonicClock.now >= deadline { return nil }
            // flock has no deadline of its own.
            usleep(20_000)
        }
    }

    /// Ends the process that holds the lock (SIGTERM, then SIGKILL after `grace` seconds, which ends even a stopped
    /// process) and takes the lock.
    /// - Throws: `LockError` when the holder belongs to a different boot or container; no process is ended then.
    package static func takeOver(folder: String, grace: Double) throws -> InstanceLock {
        if let lock = try take(folder: folder) { return lock }
        let path = folder + "/lock"
        let holder = try holderHere(path)
        for (signal, seconds) in [(SIGTERM, grace), (SIGKILL, 5.0)] {
            if healthbus_process_start(holder.pid) == holder.start { kill(holder.pid, signal) }
            if let lock = try take(folder: folder, waiting: seconds) { return lock }
        }
        throw LockError(path: path, reason: "is still held after its holder (process \(holder.pid)) was ended")
    }

    /// Asks the process that holds the lock to end (SIGTERM), and waits until it has.
    /// - Returns: whether it has ended.
    /// - Throws: `LockError` when the holder belongs to a different boot or container; no process is signalled then.
    package static func end(folder: String, within seconds: Double) throws -> Bool {
        let path = folder + "/lock"
        guard isHeld(folder: folder) else { return true }
        let holder = try holderHere(path)
        if healthbus_process_start(holder.pid) == holder.start { kill(holder.pid, SIGTERM) }
        let deadline = MonotonicClock.now + .seconds(seconds)
        while isHeld(folder: folder) {
            if MonotonicClock.now >= deadline { return false }
            // flock has no deadline of its own.
            usleep(20_000)
        }
        return true
    }

    /// Whether a process holds the lock; false if the lock's file doesn't exist. It doesn't write anything, and doesn't
    /// disturb others that check at the same time; but `take` may fail at the very moment of the check.
    package static func isHeld(folder: String) -> Bool {
        let path = folder + "/lock"
        guard FileManager.default.fileExists(atPath: path) else { return false }
        // A lock that can't even be opened belongs to another account.
        return healthbus_lock_is_held(path) != 0
    }

    /// The process id in the lock file.
    package static func holder(folder: String) -> Int? { recorded(folder + "/lock").map { Int($0.pid) } }

    /// The same, if that process still runs here: whoever takes the lock writes its own id a moment later.
    package static func livingHolder(folder: String) -> Int? {
        guard let holder = recorded(folder + "/lock"), healthbus_process_start(holder.pid) == holder.start else {
            return nil
        }
        return Int(holder.pid)
    }

    private static func recorded(_ path: String) -> Holder? {
        guard let data = FileManager.default.contents(atPath: path), let value = try? Value(json: data),
            let pid = value["pid"].int, let start = value["start"].int, let boot = value["boot"].string,
            let namespace = value["namespace"].string
        else { return nil }
        return Holder(pid: Int32(pid), start: start, boot: boot, namespace: namespace)
    }

    /// The recorded holder, if it can be signalled from here.
    private static func holderHere(_ path: String) throws -> Holder {
        guard let holder = recorded(path) else {
            throw LockError(path: path, reason: "is held, but doesn't say by whom")
        }
        let here = current()
        guard holder.boot == here.boot, holder.namespace == here.namespace else {
            throw LockError(path: path, reason: "is held by process \(holder.pid) in another container; stop it there")
        }
        return holder
    }

    private static func current() -> Holder {
        let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? ""
        let namespace = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) ?? ""
        let pid = getpid()
        return Holder(
            pid: pid, start: healthbus_process_start(pid), boot: boot.trimmingCharacters(in: .whitespacesAndNewlines),
            namespace: namespace)
    }
}

package struct LockError: Error, CustomStringConvertible {
    package let path: String
    package let reason: String
    package var description: String { "the lock \(path) \(reason)" }

    init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

    /// - Parameter code: from `errno`.
    init(path: String, code: Int32) {
        self.init(path: path, reason: "can't be written: \(String(cString: strerror(code)))")
    }
}
