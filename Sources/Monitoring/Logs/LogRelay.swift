import Client
import Foundation
import Logging
import Synchronization

/// Passes on what a stack's processes write to their logs, and the stack's own messages, on a separate thread. If the
/// reader stops reading, only that thread waits; the lines themselves are safe in their files.
package final class LogRelay: Sendable {
    private struct State {
        var said: [(line: String, then: @Sendable () -> Void)] = []
        var ending = false
    }

    private let state = Mutex(State())
    private let watch: LogWatch
    private let ended = DispatchSemaphore(value: 0)

    /// A stack has few messages of its own; if nothing reads them, the oldest one is dropped.
    private static let saidLimit = 256

    /// Passes on only what is written from now on.
    /// - Parameters:
    ///   - minimum: events below this level aren't passed on; lines that aren't events always are.
    ///   - passOn: receives each line of the processes' logs, without its line ending.
    ///   - say: receives each line passed to `say`.
    package init(
        _ logs: [(instance: String, path: String)], minimum: Log.Level,
        passOn: @escaping @Sendable (String) -> Void, say: @escaping @Sendable (String) -> Void
    ) throws(Failure) {
        let watch = try LogWatch(logs.map(\.path))
        self.watch = watch
        let begun = DispatchSemaphore(value: 0)
        Thread.begin("logs") { [self] in
            var merged = MergedLogs(logs, fromEnd: true)
            begun.signal()
            var isLast = false
            while !isLast {
                watch.arm()
                isLast = state.withLock { $0.ending }
                for (line, then) in takeSaid() {
                    say(line)
                    then()
                }
                while let line = merged.next() {
                    if line.level.map({ $0 >= minimum }) ?? true { passOn(line.text) }
                }
                if !isLast { watch.wait() }
            }
            ended.signal()
        }
        begun.wait()
    }

    /// - Parameter then: called once the line has been written.
    package func say(_ line: String, then: @escaping @Sendable () -> Void = {}) {
        state.withLock { state in
            if state.said.count == Self.saidLimit { state.said.removeFirst() }
            state.said.append((line, then))
        }
        watch.wake()
    }

    private func takeSaid() -> [(line: String, then: @Sendable () -> Void)] {
        state.withLock { state in
            defer { state.said = [] }
            return state.said
        }
    }

    /// Passes on the remaining lines; gives up if the reader doesn't read.
    package func finish() {
        state.withLock { $0.ending = true }
        watch.wake()
        _ = ended.wait(timeout: .now() + 1)
    }
}
