import Dispatch
import Foundation
import Synchronization

/// Reports, only once, that something is taking a long time.
final class Slowness: Sendable {
    private let hasTold = Mutex(false)
    private let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }

    /// Reports it after this many seconds, unless it is cancelled first.
    func await(_ seconds: Double) -> DispatchWorkItem {
        let item = DispatchWorkItem { [self] in
            let isFirst = hasTold.withLock { told in
                defer { told = true }
                return !told
            }
            if isFirst { tell() }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: item)
        return item
    }
}
