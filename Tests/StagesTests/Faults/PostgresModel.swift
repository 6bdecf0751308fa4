import DeliveryKit
import HealthModel
import PostgreSQL
import PostgresStage
import PostgresStore
import Simulation
import StageKit

/// The PostgreSQL of a simulated stack: what `PostgresWriter` answers, from tables in memory.
final class PostgresModel: DestinationModel {
    private unowned let world: SimulatedWorld
    var failureRate = 0.0
    private var isBusy = false
    private var tables = PostgresTables(generation: "generation-1")
    private var earlier: PostgresTables?
    /// None is ever used twice, as if they were random.
    private var generations = 1
    /// Rises when another database takes the place of this one, which breaks the connections to it.
    private var database = 1
    private var connected = 1

    init(in world: SimulatedWorld) { self.world = world }

    // MARK: What the writer answers

    /// nil for an effect that isn't the writer's.
    func reply(to effect: Effect) throws -> (any Sendable)? {
        guard connected == database else {
            connected = database
            return Self.failure(Self.broken, effect)
        }
        if let request = effect.request as? DeliveryRequest {
            let seen = request.seen.generation.flatMap { generation in
                request.seen.sequence.map { PostgresIdentity(generation: generation, sequence: $0) }
            }
            generations += 1
            let outcome = try tables.put(
                request.group.batch(request.part), seen: seen, ifOlder: "generation-\(generations)")
            return DeliveryReply(taken: DeliveryAnswer(outcome, request), seen: request.seen)
        }
        if let request = effect.request as? HoldingsRequest {
            return HoldingsReply.holds(tables.holdings(countsRows: request.countsRows))
        }
        if let question = effect.request as? HeldQuestion { return HeldReply.page(try tables.held(question)) }
        return nil
    }

    private static func failure(_ problem: PostgresProblem, _ effect: Effect) -> (any Sendable)? {
        switch effect.request {
        case is DeliveryRequest: problem.reply
        case is HoldingsRequest:
            problem.isOfPassword ? HoldingsReply.refusesToken(problem.text) : .later(problem.text)
        case is HeldQuestion: problem.isOfPassword ? HeldReply.refusesToken(problem.text) : .later(problem.text)
        default: nil
        }
    }

    private static func problem(
        _ state: String?, _ message: String, isOpening: Bool = false
    ) -> PostgresProblem {
        PostgresProblem(
            PostgresError(
                state == nil ? .connection : .server, state: state, endpoint: "127.0.0.1:5432/health", message),
            isOpening: isOpening)
    }

    private static var broken: PostgresProblem {
        problem(nil, "the connection broke: server closed the connection unexpectedly")
    }

    /// Whatever the server says instead of doing what it was asked.
    private static var problems: [PostgresProblem] {
        [
            broken,
            problem("40P01", "deadlock detected"),
            problem("40001", "could not serialize access due to concurrent update"),
            problem("53100", "could not extend file \"base/1/2\": No space left on device"),
            problem("25006", "cannot execute UPDATE in a read-only transaction"),
            problem("28P01", "password authentication failed for user \"healthbus\"", isOpening: true),
            problem("57P03", "the database system is starting up", isOpening: true),
        ]
    }

    // MARK: What goes wrong

    func perform(_ effect: Effect, of host: SimulatedHost) throws {
        guard Self.failure(Self.broken, effect) != nil else { return }
        isBusy = true
        let life = host.lives
        func answer(_ reply: (any Sendable)?, within microseconds: ClosedRange<Int64> = 1000...150_000) {
            guard let reply else { return }
            world.schedule(
                .effect(host, life: life, EffectResult(id: effect.id, value: reply)),
                after: world.time(microseconds: microseconds))
        }
        guard world.chance(failureRate) else { return answer(try reply(to: effect)) }
        let late: ClosedRange<Int64> = 500_000...4_000_000
        switch world.pick(0...7) {
        case 0, 1:
            // It is committed; only the answer is lost.
            _ = try reply(to: effect)
            answer(Self.failure(Self.broken, effect))
        case 2: answer(try reply(to: effect), within: late)
        case 3:
            // The server gets to it late: after newer ones, or when the process that sent it is gone.
            let asked = database
            world.schedule(
                .action { [self] in
                    answer(asked == database ? try reply(to: effect) : Self.failure(Self.broken, effect))
                }, after: world.time(microseconds: late))
        case 4:
            _ = try reply(to: effect)
            answer(try reply(to: effect))
        default: answer(Self.failure(Self.problems[world.pick(0...Self.problems.count - 1)], effect))
        }
    }

    let keepsWhatIsBeyond = true

    func takeIsBusy() -> Bool {
        defer { isBusy = false }
        return isBusy
    }

    /// A new, empty database takes its place.
    func forget() {
        world.note("PostgreSQL replaced")
        generations += 1
        database += 1
        tables = PostgresTables(generation: "generation-\(generations)")
    }

    /// It is restored from a backup, which has the generation and the sequence of its time.
    func rollBack() -> Bool {
        defer { earlier = tables }
        guard let earlier else { return false }
        world.note("PostgreSQL restored")
        database += 1
        tables = earlier
        return true
    }

    // MARK: What it shows

    /// All rows, tombstones included.
    var rows: [String: PostgresTables.Row] { tables.named }

    func contents() -> [String: Value] {
        rows.compactMapValues { row in
            guard !row.isDeleted else { return nil }
            var columns = row.columns
            if var body = columns["body"]?.object {
                (body["version"], body["revision"]) = (nil, nil)
                columns["body"] = .object(body)
            }
            return .object(columns)
        }
    }
}
