import Foundation
import HealthModel
import Synchronization

/// Looks into the inbox folder every other second: by looking, since a folder of another machine or container tells nobody of its changes.
final class DropWatcher: Sendable {
    private static let interval = Duration.seconds(2)
    private let isStopped = Mutex(false)
    private let wake = DispatchSemaphore(value: 0)

    func stop() {
        isStopped.withLock { $0 = true }
        wake.signal()
    }

    /// On a thread of its own, until it is stopped, or nobody listens any more.
    func run(_ folder: DropFolder, tell: (DropEvent) -> Bool) {
        var watch = DropWatch()
        var problem: String??
        // Told by the looks so far: at least so much time has gone by, whatever the clocks do.
        var time = MonotonicTime.distantPast
        while !isStopped.withLock({ $0 }) {
            let now = folder.problem()
            if problem != .some(now) {
                guard tell(.trouble(now)) else { return }
                problem = .some(now)
            }
            if now == nil {
                for (name, file, rest) in watch.look(folder.files(), at: time) {
                    guard let end = folder.end(of: name, file), rest >= DropWatch.patience(end),
                        let dropped = folder.dropped(name, file)
                    else { continue }
                    guard tell(.found(dropped)) else { return }
                    watch.tell(name)
                }
            }
            _ = wake.wait(timeout: .now() + Self.interval.seconds)
            time = time + Self.interval
        }
    }
}
