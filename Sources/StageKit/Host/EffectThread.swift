import Client
import Foundation
import MessageBus

/// An effect to carry out, and where its results go.
package struct EffectJob: Sendable {
    package let effect: Effect
    private let reply: @Sendable (EffectResult) -> Bool

    package init(_ effect: Effect, _ reply: @escaping @Sendable (EffectResult) -> Bool) {
        (self.effect, self.reply) = (effect, reply)
    }

    /// Waits while the stage is busy; returns false when the host is stopping.
    @discardableResult
    package func answer(_ value: any Sendable) -> Bool { reply(EffectResult(id: effect.id, value: value)) }
}

/// Carries out effects one after another, on a thread of its own, or as many at a time as there are threads.
package final class EffectThread: Sendable {
    private let jobs = Mailbox<EffectJob>(capacity: 8)

    /// - Parameter begin: called on each thread with its number, from 0; returns what carries out one effect.
    package init(_ names: String..., begin: @escaping @Sendable (Int) -> (EffectJob) -> Void) {
        for (number, name) in names.enumerated() {
            Thread.begin(name) { [jobs] in
                let perform = begin(number)
                while !jobs.isClosed { jobs.take(limit: 1, timeout: 60).forEach(perform) }
            }
        }
    }

    package func perform(_ job: EffectJob) { jobs.insist(job) }

    package func stop() { jobs.close() }
}

/// A runner that leaves all effects to an `EffectThread`. Work in progress may be cut off: the stage has recorded no
/// result, so it is done again.
package protocol ThreadedRunner: EffectRunner { var thread: EffectThread { get } }

extension ThreadedRunner {
    package func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        thread.perform(EffectJob(effect, reply))
    }

    package func stop() { thread.stop() }
}
