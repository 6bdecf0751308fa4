import CPosix
import Configuration
import Foundation
import Glibc
import HealthModel
import Synchronization
import TestSupport
import Testing

/// One process per instance, and a takeover that ends only the process holding the lock. Every wait has a deadline.
@Suite(.inTurn) struct InstanceLockTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path + "/lock" }

    /// Replaces some members of what the lock's file says about its holder.
    private func rewrite(_ members: [String: Value]) throws {
        var record = try #require(
            try Value(json: Array(Data(contentsOf: URL(fileURLWithPath: path)))).object)
        record.merge(members) { _, new in new }
        // Writes into the existing file: the lock depends on it.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(Value.object(record).json().utf8))
        try file.close()
    }

    /// The record is written over the last one, so that it has room even on a full disk; nothing of a longer one stays.
    @Test func aShorterRecordReplacesALongerOne() throws {
        try Data(repeating: UInt8(ascii: "x"), count: 4000).write(to: URL(fileURLWithPath: path))
        let lock = try #require(try InstanceLock.take(folder: folder.path))
        defer { withExtendedLifetime(lock) {} }
        #expect(InstanceLock.holder(folder: folder.path) == Int(getpid()))
    }

    /// A process that appears to hold the lock: the file names it, and when it ends the lock is free.
    private func holder() throws -> Sleeper {
        let sleeper = try Sleeper(holding: try InstanceLock.take(folder: folder.path))
        try name(sleeper)
        return sleeper
    }

    private func name(_ sleeper: Sleeper, _ members: [String: Value] = [:]) throws {
        let identity: [String: Value] = [
            "pid": .integer(Int64(sleeper.pid)), "start": .integer(healthbus_process_start(sleeper.pid)),
        ]
        try rewrite(identity.merging(members) { _, new in new })
    }

    @Test func isHeldByOneAndNamesIt() throws {
        do {
            let lock = try InstanceLock.take(folder: folder.path)
            #expect(lock != nil)
            #expect(InstanceLock.holder(folder: folder.path) == Int(getpid()))
            #expect(try InstanceLock.take(folder: folder.path) == nil)
            let started = ContinuousClock.now
            #expect(try InstanceLock.take(folder: folder.path, waiting: 0.1) == nil)
            #expect(ContinuousClock.now - started >= .milliseconds(100))
            withExtendedLifetime(lock) {}
        }
        // A program that another test starts at this moment also inherits the lock, until its own code is loaded.
        #expect(try eventually { try InstanceLock.take(folder: folder.path) != nil })
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    /// Whoever takes the lock writes its own id a moment later: until then it is that of a process that has ended.
    @Test func whoHasEndedDoesNotHoldIt() throws {
        let lock = try #require(try InstanceLock.take(folder: folder.path))
        defer { withExtendedLifetime(lock) {} }
        let sleeper = try Sleeper()
        try name(sleeper)
        #expect(InstanceLock.livingHolder(folder: folder.path) == Int(sleeper.pid))
        sleeper.end()
        #expect(eventually { InstanceLock.livingHolder(folder: folder.path) == nil })
        #expect(InstanceLock.holder(folder: folder.path) == Int(sleeper.pid))
    }

    @Test func whoWaitsGetsItOnceItIsFree() throws {
        let holder = try holder()
        #expect(try InstanceLock.take(folder: folder.path, waiting: 0.05) == nil)
        holder.end()
        #expect(try InstanceLock.take(folder: folder.path, waiting: Patience.seconds) != nil)
    }

    @Test func aFreeLockIsTakenOverWithoutASignal() throws {
        let sleeper = try Sleeper()
        defer { sleeper.end() }
        do { _ = try InstanceLock.take(folder: folder.path) }
        try name(sleeper)
        _ = try InstanceLock.takeOver(folder: folder.path, grace: 1)
        #expect(sleeper.isRunning)
        #expect(InstanceLock.holder(folder: folder.path) == Int(getpid()))
    }

    /// The holder is ended by SIGTERM; a suspended process can't react to SIGTERM, so it is killed.
    @Test(arguments: [false, true]) func aTakeoverEndsTheHolder(_ isStopped: Bool) throws {
        let holder = try holder()
        if isStopped { try holder.halt() }
        let taken = try InstanceLock.takeOver(folder: folder.path, grace: isStopped ? 0.2 : Patience.seconds)
        #expect(holder.endedBy == (isStopped ? SIGKILL : SIGTERM))
        #expect(InstanceLock.holder(folder: folder.path) == Int(getpid()))
        withExtendedLifetime(taken) {}
    }

    /// In another container, the same process id belongs to a different process.
    @Test(arguments: ["boot", "namespace"]) func nobodyIsEndedAcrossContainers(_ member: String) throws {
        let holder = try holder()
        defer { holder.end() }
        try name(holder, [member: "another"])
        let error = #expect(throws: LockError.self) { try InstanceLock.takeOver(folder: folder.path, grace: 10) }
        #expect(error?.reason.contains("another container") == true)
        #expect(holder.isRunning)
    }

    /// A reused process id belongs to a process that has nothing to do with the lock.
    @Test func aProcessThatStartedLaterIsNotTheHolder() throws {
        let holder = try holder()
        defer { holder.end() }
        try name(holder, ["start": .integer(healthbus_process_start(holder.pid) - 1)])
        let error = #expect(throws: LockError.self) { try InstanceLock.takeOver(folder: folder.path, grace: 0.05) }
        #expect(error?.reason.contains("still held") == true)
        #expect(holder.isRunning)
    }

    @Test func aHolderWithoutANameIsLeft() throws {
        let lock = try InstanceLock.take(folder: folder.path)
        #expect(truncate(path, 0) == 0)
        let error = #expect(throws: LockError.self) { try InstanceLock.takeOver(folder: folder.path, grace: 10) }
        #expect(error?.reason.contains("doesn't say by whom") == true)
        withExtendedLifetime(lock) {}
    }

    @Test func aFolderThatIsNotThereIsAnError() {
        #expect(throws: LockError.self) { try InstanceLock.take(folder: folder.path + "/nowhere") }
    }
}

/// A process that does nothing but wait until it is ended. Foundation's `Process` wouldn't work: its children inherit
/// the signals that the thread blocks.
private final class Sleeper: Sendable {
    private struct State {
        var lock: InstanceLock?
        var endedBy: Int32?
    }

    let pid: pid_t
    private let state: Mutex<State>

    /// - Parameter lock: released once the process has ended, as if the process had held it.
    init(holding lock: InstanceLock? = nil) throws {
        var words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sleep"), strdup("60"), nil]
        defer { for word in words { free(word) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        pid = healthbus_spawn(&words, &environment, nil, -1, -1, -1)
        state = Mutex(State(lock: lock))
        guard pid > 0 else { throw POSIXError(POSIXErrorCode(rawValue: -pid) ?? .EPERM) }
        let thread = Thread { [self] in
            var exit = healthbus_exit()
            _ = healthbus_wait(pid, 1, &exit)
            state.withLock { $0 = State(lock: nil, endedBy: exit.signal) }
        }
        thread.start()
    }

    /// The signal that ended it; nil while it is running.
    var endedBy: Int32? { state.withLock { $0.endedBy } }
    var isRunning: Bool { endedBy == nil }
    func end() { kill(pid, SIGKILL) }

    /// Suspends the process, and returns once it is suspended: until then it would still react to SIGTERM.
    func halt() throws {
        kill(pid, SIGSTOP)
        let deadline = Patience.deadline
        while try !String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8).contains(") T ") {
            guard ContinuousClock.now < deadline else { throw POSIXError(.ETIMEDOUT) }
            usleep(1000)
        }
    }
}
