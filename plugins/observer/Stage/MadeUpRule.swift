import HealthImport
import HealthModel
import HealthStore
import ObserverReading
import Protocol
import StageKit

/// Made-up data isn't mixed with a person's own unless that is intended: nothing could separate them again in the
/// figures. Pure.
enum MadeUpRule {
    /// What kind of samples a user has.
    enum Held { case nothing, madeUp, own }

    /// Why an export isn't imported alongside the data already held; nil when it is.
    static func problem(isMadeUp: Bool, beside held: Held, of user: String) -> String? {
        let ways =
            "; import it for another user (--user) or into its own state folder (--state), or mix them with --mix-made-up"
        switch (isMadeUp, held) {
        case (true, .own): return "it is generated test data, but '\(user)' has real data\(ways)"
        case (false, .madeUp): return "it is a real export, but '\(user)' has generated test data\(ways)"
        case (_, .nothing), (true, .madeUp), (false, .own): return nil
        }
    }
}

extension ObserverStage {
    /// Compares an export's mark with its user's data, and records what kind of data the user has from now on.
    /// - Returns: why it isn't imported; nil when it is.
    func problem(ofMixing info: ExportInfo, _ entry: ImportLedger.Entry, _ turn: Turn) throws -> String? {
        let hasSamples = try reader?.heads(user: entry.user).contains { $0.alive > 0 } ?? false
        let isMarked = try ImportTables.madeUp.value(entry.user, in: turn.database) != nil
        let held: MadeUpRule.Held = !hasSamples ? .nothing : isMarked ? .madeUp : .own
        if entry.plan?.mixesMadeUp != true,
            let problem = MadeUpRule.problem(isMadeUp: info.isMadeUp, beside: held, of: entry.user)
        {
            return problem
        }
        guard entry.plan?.isTryingOut != true else { return nil }
        if info.isMadeUp, held == .nothing {
            try ImportTables.madeUp.set(entry.user, to: .string(entry.path), turn)
        } else if !info.isMadeUp, isMarked {
            // Mixed data counts as a person's own.
            try ImportTables.madeUp.remove(entry.user, turn)
        }
        return nil
    }

    /// Ends an import that is waiting, on its way or being read, because a person asked for that.
    func cancel(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        guard let id = request.import, let entry = try imports.entry(id, turn) else {
            return .refused(
                "there is no import '\(request.import ?? "")'; 'healthbus imports list' shows them")
        }
        switch entry.state {
        case .closed, .failed:
            return .refused("this import is over; 'healthbus imports undo \(entry.id)' takes back what it brought")
        case .announced, .receiving: try refuse(entry, ImportRow.cancelled, turn)
        case .open: try giveUp(entry, ImportRow.cancelled, turn)
        }
        return .done([:])
    }

    /// Ends an import whose file is in the inbox, whether it is being read or waiting.
    func giveUp(_ entry: ImportLedger.Entry, _ problem: String, _ turn: Turn) throws {
        var entry = entry
        entry.problem = problem
        guard let attempt, attempt.id == entry.id else {
            // A different import is being read, and continues.
            let other = self.attempt
            try close(&entry, .failed, turn)
            return self.attempt = other
        }
        turn.perform(ObserverEffect.abandon(reading: attempt.effect))
        entry.seconds += (turn.monotonic - attempt.startedAt).seconds
        try close(&entry, .failed, turn)
    }
}
