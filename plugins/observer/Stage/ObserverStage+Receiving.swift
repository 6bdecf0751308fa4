import HealthModel
import MessageBus
import Protocol
import StageKit

/// Receives files that the observer can't open in place: it asks the command for their bytes.
extension ObserverStage {
    /// How many files are received at once; others wait for their turn.
    private static let receptionsAtOnce = 2

    /// Handles a command's report that it is running and could send the file.
    func hearOffer(_ entry: ImportLedger.Entry, _ command: ImportFile, _ turn: Turn) throws {
        guard let sender = FileOffer.sender(of: command), var offer = entry.offer else { return }
        if turn.now - offer.heard > FileOffer.resolution {
            offer.heard = turn.now
            var entry = entry
            entry.offer = offer
            try imports.save(entry, turn)
        }
        guard entry.state == .announced || entry.state == .receiving else { return }
        offers[entry.id] = (sender, turn.monotonic)
        if receptions[entry.id]?.sender == sender { receptions[entry.id]?.heard = turn.monotonic }
    }

    private func beginReceptions(_ turn: Turn) {
        offers = offers.filter { turn.monotonic - $0.value.heard < FileReception.patience }
        for entry in imports.receiving where receptions.count < Self.receptionsAtOnce {
            guard receptions[entry.id] == nil, let (sender, heard) = offers[entry.id] else { continue }
            turn.log(.importReceiving, ["id": entry.id])
            receptions[entry.id] = FileReception(id: entry.id, sender: sender, heard: heard)
        }
    }

    /// Requests and writes the next pieces; files that are no longer being sent are given up.
    /// - Returns: when to check again.
    func receiveFiles(_ turn: Turn) throws -> MonotonicTime? {
        for (id, reception) in receptions where turn.monotonic - reception.heard >= FileReception.patience {
            turn.log(.importSenderGone, ["id": id])
            if let pull = reception.pull { turn.withdraw(pull) }
            receptions[id] = nil
        }
        beginReceptions(turn)
        for id in receptions.keys.sorted() { receptions[id]?.advance(turn) }
        for entry in imports.receiving where offers[entry.id] == nil && entry.offer?.isStale(at: turn.now) != false {
            try refuse(entry, "it wasn't sent completely, and the part received was removed; import it again", turn)
        }
        return receptions.values.map { $0.heard + FileReception.patience }.min()
    }

    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {
        guard let (id, _) = receptions.first(where: { $0.value.pull?.id == answer.pull.id }),
            let entry = try imports.entry(id, turn)
        else { return }
        if let reason = receptions[id]?.take(answer) { try refuse(entry, reason, turn) }
    }

    /// Handles the result of a step in bringing a file into the inbox.
    func receive(_ step: FileStep, _ turn: Turn) throws {
        switch step {
        case .adopted(let id):
            adopting.remove(id)
            try enter(id, turn)
        case .elsewhere(let id, let reason):
            adopting.remove(id)
            guard var entry = try imports.entry(id, turn), entry.state == .announced else { return }
            guard entry.offer != nil else { return try refuse(entry, reason, turn) }
            entry.state = .receiving
            try imports.save(entry, turn)
        case .failed(let id, let reason):
            adopting.remove(id)
            if let entry = try imports.entry(id, turn) { try refuse(entry, reason, turn) }
        case .stored(let id, let length): receptions[id]?.stored(upTo: length)
        case .whole(let id): try enter(id, turn)
        case .differs(let id):
            guard let entry = try imports.entry(id, turn), entry.state == .receiving else { return }
            turn.log(.importDiffers, ["id": id])
            if receptions[id]?.beginAgain() == false {
                try refuse(entry, "what arrived isn't what was sent, twice; is the file being written?", turn)
            }
        }
    }

    /// Notes that the file is in the inbox, where it waits to be read.
    private func enter(_ id: String, _ turn: Turn) throws {
        (receptions[id], offers[id]) = (nil, nil)
        guard var entry = try imports.entry(id, turn), entry.state == .announced || entry.state == .receiving else {
            return
        }
        entry.state = .open
        entry.offer = nil
        try imports.save(entry, turn)
    }

    func refuse(_ entry: ImportLedger.Entry, _ reason: String, _ turn: Turn) throws {
        guard entry.state == .announced || entry.state == .receiving else { return }
        if let pull = receptions[entry.id]?.pull { turn.withdraw(pull) }
        (receptions[entry.id], offers[entry.id]) = (nil, nil)
        var entry = entry
        entry.offer = nil
        entry.state = .failed
        entry.problem = reason
        try imports.save(entry, turn)
        turn.perform(ObserverEffect.discard(.file(id: entry.id)))
    }
}
