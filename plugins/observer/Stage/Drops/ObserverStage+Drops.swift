import HealthModel
import Protocol
import StageKit

/// Files in the inbox folder are imported once each, and are then moved out of the folder according to their outcome.
extension ObserverStage {
    func watchInbox(_ turn: Turn) throws {
        try drops.open(turn)
        if let inbox { turn.perform(ObserverEffect.watch(folder: inbox)) }
    }

    func take(_ event: DropEvent, _ turn: Turn) throws {
        switch event {
        case .found(let file): try take(file, turn)
        case .trouble(let problem):
            inboxProblem = problem
            if let problem { turn.log(.inboxTrouble, ["why": problem]) } else { turn.log(.inboxWatched, [:]) }
        case .settled(let name): try drops.remove(name, turn)
        case .unsettled(let name, let reason):
            if let id = drops.drops[name]?.id { turn.log(.inboxStuck, ["id": id, "why": reason]) }
            drops.fail(name, at: turn.monotonic)
        }
    }

    private func take(_ found: DroppedFile, _ turn: Turn) throws {
        // The file is known from before a crash, and its import continues.
        if let known = drops.drops[found.name], known.file == found.file { return }
        let id = try ImportID.next(content: found.hash, user: defaultUser) { try imports.entry($0, turn)?.isSpent }
        try drops.add(.init(name: found.name, id: id, file: found.file), turn)
        turn.log(.inboxFound, ["id": id])
        guard try imports.entry(id, turn) == nil else { return }
        try imports.save(
            .init(
                id: id, path: found.path, user: defaultUser, state: .announced, submitted: turn.now, added: [:],
                report: nil, problem: nil, seconds: 0, plan: nil, offer: nil), turn)
    }

    /// Moves files that have been read, or that can't be read.
    /// - Returns: when to try again.
    func settleDrops(_ turn: Turn) throws -> MonotonicTime? {
        guard let inbox else { return nil }
        for (name, drop) in drops.drops where !drop.isMoving && drop.retry.map({ $0 <= turn.monotonic }) != false {
            guard let entry = try imports.entry(drop.id, turn), entry.state == .closed || entry.state == .failed else {
                continue
            }
            drops.begin(name)
            let report = ImportRow.reported(
                path: entry.path, report: entry.state == .closed ? entry.report : nil, problem: entry.problem)
            turn.perform(
                ObserverEffect.settle(
                    DropSettlement(
                        folder: inbox, name: name, file: drop.file,
                        isDone: entry.state == .closed && entry.problem == nil,
                        report: Array((report.json(pretty: true) + "\n").utf8))))
        }
        return drops.drops.values.compactMap(\.retry).min()
    }
}
