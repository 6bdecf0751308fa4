import Foundation
import Synchronization
import Testing

/// Lets a few tests run at a time, on threads of their own.
///
/// For tests that wait for processes, sockets or threads. A few at a time keep the cores busy; running all at once
/// would only make each one slow. These tests may block: the concurrency pool has one thread per core, and stays free
/// for tests that compute. They run in the order of arrival.
package struct TurnTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await Turns.shared.next { thread in
            let turn = Watchdog.shared.begins(String(describing: test.id))
            defer { Watchdog.shared.ends(turn) }
            try await withTaskExecutorPreference(thread) { try await function() }
        }
    }
}

extension Trait where Self == TurnTrait {
    /// As many at once as `HEALTHBUS_TESTS_AT_ONCE` says; three per core if it isn't set.
    package static var inTurn: TurnTrait { TurnTrait() }
}

private final class Turns: Sendable {
    static let shared = Turns()

    private struct State {
        var free: [TestThread]
        var waiting: [CheckedContinuation<TestThread, Never>] = []
    }

    private let state: Mutex<State>

    private init() {
        let wanted = ProcessInfo.processInfo.environment["HEALTHBUS_TESTS_AT_ONCE"].flatMap { Int($0) }
        let count = max(1, wanted ?? 3 * ProcessInfo.processInfo.activeProcessorCount)
        state = Mutex(State(free: (0..<count).map { TestThread(name: "test \($0)") }))
    }

    func next(_ body: (TestThread) async throws -> Void) async rethrows {
        let thread = await withCheckedContinuation { continuation in
            let free = state.withLock { state -> TestThread? in
                if let thread = state.free.popLast() { return thread }
                state.waiting.append(continuation)
                return nil
            }
            if let free { continuation.resume(returning: free) }
        }
        defer {
            let next = state.withLock { state -> CheckedContinuation<TestThread, Never>? in
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                state.free.append(thread)
                return nil
            }
            next?.resume(returning: thread)
        }
        try await body(thread)
    }
}

/// Ends the whole run, naming the test, when one takes too long: a test that hangs would otherwise keep the run waiting
/// forever, and nobody would know which one.
private final class Watchdog: Sendable {
    static let shared = Watchdog()
    private static let limit: TimeInterval = 15 * 60

    private struct State {
        var last = 0
        var running: [Int: (test: String, since: ContinuousClock.Instant)] = [:]
    }

    private let state = Mutex(State())

    private init() {
        let thread = Thread { [self] in
            while true {
                Thread.sleep(forTimeInterval: 5)
                look()
            }
        }
        thread.name = "watchdog"
        thread.start()
    }

    func begins(_ test: String) -> Int {
        state.withLock {
            $0.last += 1
            $0.running[$0.last] = (test, .now)
            return $0.last
        }
    }

    func ends(_ turn: Int) { state.withLock { $0.running[turn] = nil } }

    private func look() {
        let overdue = state.withLock { state in
            state.running.values.filter { .now - $0.since > .seconds(Self.limit) }.map(\.test).sorted()
        }
        guard !overdue.isEmpty else { return }
        fflush(nil)
        let minutes = Int(Self.limit) / 60
        let text = overdue.map { "\($0) hangs: it has had its turn for \(minutes) minutes, so the run ends here\n" }
        FileHandle.standardError.write(Data(text.joined().utf8))
        _exit(1)
    }
}

/// One thread that runs a test's jobs one after another.
///
/// `@unchecked Sendable`: the jobs are only touched while the condition's lock is held.
private final class TestThread: TaskExecutor, @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []

    init(name: String) {
        let thread = Thread { [self] in
            while true { next().runSynchronously(on: asUnownedTaskExecutor()) }
        }
        thread.name = name
        // The stack is as large as the main thread's: tests of deep nesting need that.
        thread.stackSize = 8 << 20
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    private func next() -> UnownedJob {
        condition.withLock {
            while jobs.isEmpty { condition.wait() }
            return jobs.removeFirst()
        }
    }
}
