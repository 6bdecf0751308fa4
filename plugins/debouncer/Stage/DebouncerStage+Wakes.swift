import BackgroundDelivery
import HealthModel
import Protocol
import StageKit

/// Syncs that somebody outside has asked for: a program at the ingest, or a backend in an answer. They are the silent
/// pushes of an app.
struct Wakes {
    /// How many outcomes are reported; a sender that still waits for another asks again.
    static let reported = 16

    var allowance = PushAllowance()
    var recent: [DebouncerDetails.Wake] = []
    /// The rounds that wakes wait for, and whether each has anything new.
    var rounds: [String: (number: Int64, isNew: Bool)] = [:]
    /// The last request of each destination.
    var requests: [String: Instant] = [:]
    /// When each sender that has used up its wakes has another, once that is logged.
    var usedUp: [String: Instant] = [:]

    mutating func report(_ wake: DebouncerDetails.Wake) {
        recent.removeAll { $0.id == wake.id }
        recent = (recent + [wake]).suffix(Self.reported)
    }
}

extension DebouncerStage {
    /// A destination's request counts if it is this young: an older one was in a heartbeat before this start.
    private static let requestAge = Duration.seconds(60)

    func openWakes(_ turn: Turn) throws {
        guard let saved = try load("wakes", turn) else { return }
        guard let allowance = saved.read(PushAllowance.self) else { throw StageError.unreadableCursor("wakes") }
        wakes.allowance = allowance
    }

    /// Wakes the app, which syncs if it can. Asking again under the same id changes nothing, and doesn't count again.
    /// Before it has heard of the phone and of what there is, nothing is decided: whoever asks repeats it.
    func wake(_ asked: WakeApp, _ turn: Turn) throws {
        guard heardHead != nil, !wakes.recent.contains(where: { $0.id == asked.id }) else { return }
        var wake = DebouncerDetails.Wake(id: asked.id)
        if let unreachable {
            wake.problem = unreachable
            wake.result = .failed
            return report(wake, from: asked, "not woken", turn)
        }
        switch wakes.allowance.take(asked.id, from: asked.sender, at: turn.now) {
        case .usedUp(let next):
            wake.next = next
            guard wakes.usedUp.updateValue(next, forKey: asked.sender) == next else {
                return report(wake, from: asked, "used up", turn)
            }
            // Logged once until another counts: a program may ask thousands of times.
            return wakes.report(wake)
        case .known: break
        case .counted: try store("wakes", Value(wakes.allowance), turn)
        }
        if phone.device.isLocked {
            wake.problem = Self.locked
            wake.result = .failed
            return report(wake, from: asked, "locked", turn)
        }
        wake.woken = true
        let wasBusy = rounds.open != nil
        let (moved, round) = try releaseAll(to: consumers, reason: "wake", turn)
        wakes.rounds[wake.id] = (round, wasBusy || !moved.isEmpty)
        report(wake, from: asked, "woken", turn)
    }

    private func report(
        _ wake: DebouncerDetails.Wake, from asked: WakeApp, _ outcome: String, _ turn: Turn
    ) {
        wakes.report(wake)
        turn.log(.syncRequested, ["from": asked.sender, "outcome": outcome])
    }

    /// Why a push doesn't reach the app at present; nil if it does.
    private var unreachable: String? {
        let device = phone.device
        if device.app == .forceQuit { return Self.forceQuit }
        guard device.app != .active else { return nil }
        guard tasks.scheduler.backgroundModes.contains("remote-notification") else {
            return #"the debouncer may not be woken: add "remote-notification" to 'backgroundModes' of its manifest"#
        }
        guard device.isDeferring || device.isLowPowerMode else { return nil }
        return "the phone gives the app no time in the background at present"
    }

    /// A backend's request, in the heartbeat of the destination that delivers to it.
    func heardRequest(_ at: Instant?, of destination: String, _ turn: Turn) throws {
        guard let at, heardHead != nil, wakes.requests[destination] != at else { return }
        wakes.requests[destination] = at
        guard turn.now - at <= Self.requestAge, wakes.usedUp[destination].map({ $0 <= turn.now }) ?? true else {
            return
        }
        try wake(WakeApp(id: "\(destination)/\(at.microseconds)", sender: destination), turn)
    }

    /// Notes the end of a round for the wakes that wait for it.
    func finishWakes(_ round: Rounds.Round) {
        for (id, waiting) in wakes.rounds where waiting.number == round.number {
            wakes.rounds[id] = nil
            guard var wake = wakes.recent.first(where: { $0.id == id }) else { continue }
            wake.result = round.isSuccess ? (waiting.isNew ? .newData : .noData) : .failed
            if !round.isSuccess { wake.problem = round.summary }
            wakes.report(wake)
        }
    }
}
