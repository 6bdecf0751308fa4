import Foundation
import Processes

/// Starts children from a thread that lives as long as the tests.
///
/// A child gets its parent-death signal when the *thread* that started it ends (prctl(2)), so none is started from the
/// concurrency pool. This way, a test run that is killed leaves no process behind, and a test that continues loses
/// none.
///
/// `@unchecked Sendable`: the jobs are only touched while the condition's lock is held.
final class Launcher: @unchecked Sendable {
    static let shared = Launcher()

    private let condition = NSCondition()
    private var jobs: [@Sendable () -> Void] = []

    private init() {
        let thread = Thread { [self] in
            while true { next()() }
        }
        thread.name = "launcher"
        thread.start()
    }

    private func next() -> @Sendable () -> Void {
        condition.withLock {
            while jobs.isEmpty { condition.wait() }
            return jobs.removeFirst()
        }
    }

    func start(_ spec: ProcessSpec) async throws -> ChildProcess {
        try await withCheckedThrowingContinuation { continuation in
            let job: @Sendable () -> Void = {
                continuation.resume(with: Result { try ChildProcess(spec, trampoline: Programs.path("trampoline")) })
            }
            condition.withLock {
                jobs.append(job)
                condition.signal()
            }
        }
    }
}
