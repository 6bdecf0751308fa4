import Foundation
import StageKit
import Synchronization

/// Performs `WatchPath` for an effect runner: reports the machine's network path until it is stopped.
package final class PathReporter: Sendable {
    private let watcher = Mutex<PathWatcher?>(nil)

    package init() {}

    package func watch(_ effect: Effect, _ reply: @escaping @Sendable (EffectResult) -> Bool) {
        do {
            let new = try PathWatcher { reply(EffectResult(id: effect.id, value: PathNews.path($0))) }
            watcher.withLock { $0 = new }
        } catch {
            let reason = "\(error)"
            // Replies on another thread, because the stage's own thread mustn't wait for itself.
            Thread { _ = reply(EffectResult(id: effect.id, value: PathNews.unknown(reason))) }.start()
        }
    }

    package func stop() { watcher.withLock { $0 }?.stop() }
}

/// A threaded runner that also reports the machine's network path.
package protocol DeliveryRunner: ThreadedRunner { var path: PathReporter { get } }

extension DeliveryRunner {
    package func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        if effect.request is WatchPath { return path.watch(effect, reply) }
        thread.perform(EffectJob(effect, reply))
    }

    package func stop() {
        thread.stop()
        path.stop()
    }
}
