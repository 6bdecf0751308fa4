import DeliveryKit
import Foundation
import Logging
import MessageBus
import PostgreSQL
import PostgresStore
import StageKit

/// Writes what the stage delivers, up to two parts at a time, each over a connection and on a thread of its own.
package final class PostgresRunner: EffectRunner {
    private struct Job: Sendable {
        var effect: Effect
        var reply: @Sendable (EffectResult) -> Bool
    }

    private let jobs = Mailbox<Job>(capacity: 8)
    private let path = PathTeller()

    package init(url: DatabaseURL, schema: PostgresSchema, timeout: Double, connections: Int = 2) {
        let jobs = jobs
        for number in 1...connections {
            let thread = Thread {
                let writer = PostgresWriter(url: url, schema: schema, timeout: timeout)
                while !jobs.isClosed {
                    for job in jobs.take(limit: 1, timeout: 60) {
                        guard let value = writer.perform(job.effect) else { continue }
                        _ = job.reply(EffectResult(id: job.effect.id, value: value))
                    }
                }
            }
            thread.name = "postgres \(number)"
            thread.start()
        }
    }

    package func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        if effect.request is WatchPath { return path.watch(effect, reply) }
        jobs.insist(Job(effect: effect, reply: reply))
    }

    /// Work in progress may be cut off: its anchor hasn't moved, so it is written again.
    package func stop() {
        jobs.close()
        path.stop()
    }
}

/// One connection, made when it is needed, and again after it breaks.
package final class PostgresWriter {
    private let url: DatabaseURL
    private let schema: PostgresSchema
    private let timeout: Double
    private var store: PostgresStore?

    package init(url: DatabaseURL, schema: PostgresSchema, timeout: Double) {
        self.url = url
        self.schema = schema
        self.timeout = timeout
    }

    /// Carries out an effect, and returns its result; nil for an unknown effect.
    package func perform(_ effect: Effect) -> (any Sendable)? {
        if let request = effect.request as? UploadRequest { return put(request) }
        if let question = effect.request as? HoldingsRequest { return holdings(question) }
        if let question = effect.request as? HeldQuestion { return held(question) }
        return nil
    }

    private func put(_ request: UploadRequest) -> DeliveryReply {
        do {
            let store = try open(refresh: request.refreshToken)
            let batch = try request.group.batch(request.part)
            let seen = request.seen.generation.flatMap { generation in
                request.seen.sequence.map { PostgresIdentity(generation: generation, sequence: $0) }
            }
            return .init(taken: DeliveryAnswer(try store.put(batch, seen: seen), request), seen: request.seen)
        } catch let error as Failure {
            return .needsPerson("\(error)")
        } catch {
            return forget(after: error).reply
        }
    }

    private func holdings(_ question: HoldingsRequest) -> HoldingsReply {
        do {
            let found = try open(refresh: question.refreshToken).holdings(countsRows: question.countsRows)
            return .holds(
                BackendHoldings(
                    generation: found.identity.generation, sequence: found.identity.sequence, created: found.created,
                    kept: found.rows, takesColumns: true))
        } catch let error as Failure {
            return .later("\(error)")
        } catch {
            let problem = forget(after: error)
            return problem.isOfPassword ? .refusesToken(problem.text) : .later(problem.text)
        }
    }

    func open(refresh: Bool) throws -> PostgresStore {
        if let store, !store.isBroken, !refresh { return store }
        store = nil
        let made = try PostgresStore(
            url: url.current(refresh: refresh), schema: schema, timeout: timeout, program: "healthbus")
        store = made
        return made
    }

    /// Returns what happened; an unusable connection is replaced the next time.
    func forget(after error: any Error) -> PostgresProblem {
        let problem = PostgresProblem(error, isOpening: store == nil)
        if problem.needsNewConnection || store?.isBroken ?? false { store = nil }
        return problem
    }
}
