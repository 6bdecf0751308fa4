import DeliveryKit
import Logging
import PostgreSQL
import PostgresStore
import StageKit

/// Writes what the stage delivers, up to two parts at a time, each over a connection and on a thread of its own.
package final class PostgresRunner: DeliveryRunner {
    package let thread: EffectThread
    package let path = PathReporter()

    package init(url: DatabaseURL, schema: PostgresSchema, timeout: Double) {
        thread = EffectThread("postgres 1", "postgres 2") { _ in
            let writer = PostgresWriter(url: url, schema: schema, timeout: timeout)
            return { job in if let value = writer.perform(job.effect) { job.answer(value) } }
        }
    }
}

/// One connection, made when it is needed, and again after it breaks.
package final class PostgresWriter {
    private let url: DatabaseURL
    private let schema: PostgresSchema
    private let timeout: Double
    private var store: PostgresStore?

    package init(url: DatabaseURL, schema: PostgresSchema, timeout: Double) {
        (self.url, self.schema, self.timeout) = (url, schema, timeout)
    }

    /// Carries out an effect, and returns its result; nil for an unknown effect.
    package func perform(_ effect: Effect) -> (any Sendable)? {
        if let request = effect.request as? DeliveryRequest { return put(request) }
        if let question = effect.request as? HoldingsRequest { return holdings(question) }
        if let question = effect.request as? HeldQuestion { return held(question) }
        return nil
    }

    private func put(_ request: DeliveryRequest) -> DeliveryReply {
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
