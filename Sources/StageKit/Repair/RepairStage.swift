import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite

/// Any stage, extended to carry out the requests that a person may send it. It keeps the latest request, so that a
/// restart continues the request, and it reports the outcome in the heartbeat. A request that was carried out a short
/// while ago isn't carried out again: its sender missed the outcome, which is reported once more.
///
/// One request is carried out at a time: if another arrives, its sender repeats it until the current one is finished.
/// While the stage isn't running, no sender can wait and repeat a request, so requests are stored and carried out in
/// order.
package final class RepairStage: Stage {
    private let inner: any Stage
    private let instance: String
    private let innerHearsControl: Bool
    private var current: (request: RepairRequest, state: RepairOutcome)?
    /// Requests that were stored while another one was in progress, in order, with their keys in the table.
    private var noted: [(key: String, request: RepairRequest)] = []
    /// The last outcomes, newest last.
    private var over: [Repair] = []
    /// An earlier outcome whose sender has asked again.
    private var asked: Repair?
    private var copy = BackupCopy()

    package init(_ inner: any Stage, instance: String) {
        (self.inner, self.instance) = (inner, instance)
        innerHearsControl = inner.subscriptions.contains { $0.matches("control.\(instance)") }
    }

    package var subscriptions: [Subscription] {
        inner.subscriptions + (innerHearsControl ? [] : [.exact("control.\(instance)")])
    }

    package func open(_ turn: Turn) throws {
        try inner.open(turn)
        try Self.table.create(in: turn.write().database)
        try Self.table.forEach(in: turn.database) { key, value in
            guard key.hasPrefix(Self.notedPrefix), let request = RepairRequest(value) else { return }
            noted.append((key, request))
        }
        over = try Self.table.value(Self.outcomes, in: turn.database)?.read([Repair].self) ?? []
        guard let kept = try Self.table.value(Self.last, in: turn.database)?.read(KeptRequest.self),
            let request = RepairRequest(kept.request)
        else { return }
        let state = RepairOutcome(kept)
        current = (request, state)
        if !state.isOver { try begin(request, turn) }
    }

    package func receive(_ message: Message, _ turn: Turn) throws {
        guard message.topic == "control.\(instance)" else { return try inner.receive(message, turn) }
        if CommandName.of(message.body) == RepairRequest.name {
            try take(message.body, turn)
        } else if innerHearsControl {
            try inner.receive(message, turn)
        }
    }

    /// Accepts a request unless it is already known or another one is in progress.
    package func take(_ body: Value, _ turn: Turn) throws {
        guard let request = RepairRequest(body), isOver else { return }
        if current?.request.id == request.id {
            asked = nil
        } else if let known = outcome(of: request.id) {
            asked = known
        } else {
            try begin(request, turn)
        }
    }

    private func outcome(of id: String) -> Repair? { over.last { $0.id == id } }

    /// Accepts a request, or stores it for later if another one is in progress.
    func note(_ request: RepairRequest, _ turn: Turn) throws {
        guard state(of: request.id) == nil else { return }
        guard !isOver else { return try begin(request, turn) }
        let last = noted.last.flatMap { Int($0.key.dropFirst(Self.notedPrefix.count)) } ?? 0
        // Ten digits, so that keys sort as numbers.
        let digits = String(last + 1)
        let key = Self.notedPrefix + String(repeating: "0", count: max(0, 10 - digits.count)) + digits
        try Self.table.set(key, to: .object(request.body), turn)
        noted.append((key, request))
    }

    private static let table = ValueTable("mending")
    private static let last = "last"
    private static let outcomes = "outcomes"
    private static let notedPrefix = "next-"
    private static let remembered = 16

    /// Begins the next stored request and, as long as each finishes at once, those after it. Returns false when none
    /// are left.
    private func beginNoted(_ turn: Turn) throws -> Bool {
        guard !noted.isEmpty else { return false }
        while !noted.isEmpty, current?.state.isOver != false {
            let (key, request) = noted.removeFirst()
            try Self.table.remove(key, turn)
            try begin(request, turn)
        }
        return true
    }

    /// Makes room for an unrelated request. The one in progress continues when the stage is next opened.
    func setAside() {
        current = nil
        noted = []
    }

    /// The state of a request; nil if the request isn't known.
    func state(of id: String) -> RepairOutcome? {
        if let current, current.request.id == id { return current.state }
        if let known = outcome(of: id) { return RepairOutcome(known) }
        return noted.contains { $0.request.id == id } ? .underWay(left: 0) : nil
    }

    private func begin(_ request: RepairRequest, _ turn: Turn) throws {
        turn.log(.repairBegun, ["action": request.action])
        try settle(request, try answer(request, turn), turn)
    }

    private func answer(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        if request.action == "backup" { return copy.begin(request, instance: instance, turn) }
        let state = try inner.repair(request, turn)
        if request.action == "reset", case .done = state {
            // All consumers of this store will read it again from the beginning.
            try turn.write().beginGeneration(.beginsAgain)
        }
        return state
    }

    private func settle(_ request: RepairRequest, _ state: RepairOutcome, _ turn: Turn) throws {
        let isNew = current?.request.id != request.id || current?.state.isOver != state.isOver
        current = (request, state)
        guard isNew else { return }
        asked = nil
        if state.isOver {
            turn.log(.repairEnded, ["action": request.action])
            over = (over + [Repair(request, state)]).suffix(Self.remembered)
        }
        // Otherwise the backup would contain its own unfinished request, which would start again wherever it is
        // restored. A person who still wants a backup after a restart can ask again.
        guard request.action != "backup" else { return }
        try Self.table.set(
            Self.last, to: Value(KeptRequest(Repair(request, state), request: .object(request.body))), turn)
        if state.isOver { try Self.table.set(Self.outcomes, to: Value(over), turn) }
    }

    package func receive(_ answer: PullAnswer, _ turn: Turn) throws { try inner.receive(answer, turn) }

    package func renew(_ renewal: Renewal, _ turn: Turn) throws { try inner.renew(renewal, turn) }

    package func receive(_ result: EffectResult, _ turn: Turn) throws {
        guard !copy.take(result) else { return }
        try inner.receive(result, turn)
    }

    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        let next = try inner.tick(turn)
        return try advance(turn) ? turn.monotonic : next
    }

    /// Continues the request in progress; returns true if the request wants another turn at once.
    package func advance(_ turn: Turn) throws -> Bool {
        guard let (request, state) = current, !state.isOver else { return try beginNoted(turn) }
        let new = try request.action == "backup" ? copy.state : inner.repaired(request, turn)
        try settle(request, new, turn)
        if case .underWay(_, true) = new { return true }
        // The next request begins in the same turn, so that no heartbeat reports that everything is done while a
        // request is still waiting.
        return try new.isOver && beginNoted(turn)
    }

    /// Whether no request is in progress or waiting.
    var isOver: Bool { current?.state.isOver != false && noted.isEmpty }

    /// The outcome of the latest request, or of the one whose sender asked again, as reported by the heartbeat; nil
    /// before the first.
    package var repair: Repair? { asked ?? current.map { request, state in Repair(request, state) } }

    package func close(_ turn: Turn) throws { try inner.close(turn) }

    package func report(_ turn: Turn) throws -> StageReport {
        var report = try inner.report(turn)
        var said = StageDetails()
        said.mending = repair
        report.details.add(said)
        return report
    }
}

/// The latest request, as stored in the stage's file.
private struct KeptRequest: Codable {
    var request: Value
    var state: Repair.State
    var left: Int64?
    var result: Value?
    var problem: String?

    init(_ reported: Repair, request: Value) {
        self.request = request
        state = reported.state
        left = reported.left
        result = reported.result
        problem = reported.problem
    }
}

extension RepairOutcome {
    fileprivate init(_ kept: KeptRequest) {
        self.init(
            Repair(
                id: "", action: "", state: kept.state, left: kept.left, result: kept.result, problem: kept.problem))
    }
}
