import Foundation
import HealthModel
import Synchronization

/// Checks the inbox folder every other second: it polls because a folder on another machine or in a container gives no
/// notice of changes.
final class DropWatcher: Sendable {
    private static let interval = Duration.seconds(2)
    private let isStopped = Mutex(false)
    private let wake = DispatchSemaphore(value: 0)

    func stop() {
        isStopped.withLock { $0 = true }
        wake.signal()
    }

    /// Runs on a thread of its own until it is stopped or its events are no longer received.
    func run(_ folder: DropFolder, report: (DropEvent) -> Bool) {
        var watch = DropWatch()
        var problem: String??
        // Time is measured by counting checks, so at least this much has passed, whatever the clocks do.
        var time = MonotonicTime.distantPast
        while !isStopped.withLock({ $0 }) {
            let now = folder.problem()
            if problem != .some(now) {
                guard report(.trouble(now)) else { return }
                problem = .some(now)
            }
            if now == nil {
                for (name, file, rest) in watch.look(folder.files(), at: time) {
                    guard let end = folder.end(of: name, file), rest >= DropWatch.patience(end),
                        let dropped = folder.dropped(name, file)
                    else { continue }
                    guard report(.found(dropped)) else { return }
                    watch.noteReported(name)
                }
            }
            _ = wake.wait(timeout: .now() + Self.interval.seconds)
            time = time + Self.interval
        }
    }
}
