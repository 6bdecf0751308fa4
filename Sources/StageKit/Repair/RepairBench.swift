import Changelog
import HealthModel
import Logging
import MessageBus
import Protocol

/// Carries out one request on a stage that isn't running, without a bus and without pulls. Whatever needs other
/// processes continues at the next start.
struct RepairBench {
    private let stage: RepairStage
    private let database: StageDatabase
    private let effects: (any EffectRunner)?
    private let log: StageLog
    private let results = Mailbox<EffectResult>(capacity: 2)

    init(_ stage: RepairStage, _ database: StageDatabase, _ effects: (any EffectRunner)?, _ log: StageLog) {
        (self.stage, self.database, self.effects, self.log) = (stage, database, effects, log)
    }

    /// Opens the stage, and does nothing else.
    func open() throws { _ = try opened() }

    /// Opens the stage, and returns a function that runs a turn, commits it, and returns the effects that the turn
    /// asked for.
    private func opened() throws -> (_ body: (Turn) throws -> Void) throws -> [Effect] {
        let turns = try TurnMaker(database, log: log)
        func turn(_ body: (Turn) throws -> Void) throws -> [Effect] {
            let turn = turns.make()
            do {
                try body(turn)
                _ = try turn.commit()
                return turn.effects
            } catch {
                turn.rollback()
                throw error
            }
        }
        // The effects that the stage asks for when it is opened are meant for a running stage.
        _ = try turn { try stage.open($0) }
        return turn
    }

    /// - Returns: the outcome, as a heartbeat would report it. A request that can't go on until the stack starts counts
    ///   as still in progress.
    func run(_ request: RepairRequest, _ stopper: Stopper) throws -> Repair? {
        let turn = try opened()
        // A copy reflects the current state, regardless of unfinished requests.
        if request.action == "backup" { stage.setAside() }
        var waiting: Set<Int64> = []
        var effectsAsked = try turn { try stage.note(request, $0) }
        var goesOn = true
        while goesOn || !waiting.isEmpty || !effectsAsked.isEmpty, !stopper.isAsked {
            for effect in effectsAsked {
                waiting.insert(effect.id)
                effects?.perform(effect) { [results] in results.put($0) }
            }
            let arrived = waiting.isEmpty ? [] : results.take(limit: 1, timeout: 0.2)
            goesOn = false
            effectsAsked = try turn { turn in
                for result in arrived { try stage.receive(result, turn) }
                goesOn = try stage.advance(turn)
            }
            if stage.isOver { break }
        }
        results.close()
        return stage.state(of: request.id).map { Repair(request, $0) }
    }
}
