import BackgroundDelivery
import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit

/// Makes one summary of a user's day from all handlers' figures: provisional during the day, final after 00:01 on the
/// next, revised when late data arrives.
package final class ConsolidatorStage: Stage {
    private let instance: String
    let observer: String
    var daily: DailyTask
    let handlers: [Upstream]
    let zones: Upstream
    var timelines = Timelines()
    var ends = DayEnds()
    var days = SummaryDays()
    /// Days that a person asked to have read again.
    var replay: PartsReplay?
    var finality: FinalMark
    /// A head that becomes the mark once the zones up to it are known here, with the time at which it was reported.
    private var candidate: (head: SequenceNumber, heardAt: Instant)?
    /// Days to write in this turn.
    var touched = DaySet()
    /// When the first of the unwritten days began to wait. These days are over but were never final: they are written
    /// once, when every handler has caught up or one is taking too long.
    private var settlingSince: MonotonicTime?
    /// A day that is over waits at most this long for handlers still working on it; each wait that runs out doubles the
    /// next. Otherwise each day would be written every two seconds while handlers take in ten years of data.
    private var settling = BackOff(Duration.seconds(2), upTo: .seconds(32))
    /// Days whose summaries are due, though a handler may still change them. Like `finishing`, they are written over
    /// several turns: ten years of days in one transaction would hold up everyone who waits for the first of them. Both
    /// are only plans: what is still to be done is in the days' own states, so a crash loses nothing.
    var settled = DaySet()
    /// Days that are to become final, as nothing they were computed from has changed since the mark.
    var finishing = DaySet()
    /// When the mark for them was sent; nil when there is none.
    var finishingMark: Instant?
    /// The position in the observer's changes up to which summaries have been written.
    private var written: SequenceNumber?
    /// Handlers listed as missing in the provisional summaries of days that are over.
    var missing: [String] = []
    var collisions = FigureCollisions()
    let significance: SignificantChange

    static let topic = "daily.summary"

    /// The wait doesn't grow for a handler that is known to be late.
    private var settlingTime: Duration { missing.isEmpty ? settling.wait : settling.first }

    init(
        instance: String, observer: String, handlers: [String], options: DailyTask.Options,
        permissions: TaskHost.Permissions, significance: SignificantChange = .any
    ) {
        (self.significance, self.instance, self.observer) = (significance, instance, observer)
        daily = DailyTask(options, permissions: permissions)
        self.handlers = handlers.map { Upstream($0, query: .changes(topic: "figures.")) }
        zones = Upstream(observer, name: "zones", query: .zones)
        finality = FinalMark(handlers: handlers)
    }

    package var subscriptions: [Subscription] {
        [.exact(Heartbeat.topic(observer)), .exact("control.\(instance)")]
            + handlers.map { .exact(Heartbeat.topic($0.producer)) }
    }

    package func open(_ turn: Turn) throws {
        let database = try turn.write().database
        try SummaryDays.createTables(in: database)
        try FigureCollisions.createTables(in: database)
        try Timelines.createTables(in: database)
        try days.open(turn)
        try collisions.open(turn)
        try timelines.open(turn)
        try zones.open(turn)
        for handler in handlers { try handler.open(turn) }
        if try SummaryDays.makeRoomForHours(in: database) {
            for handler in handlers { try handler.rewind(to: .beginning, turn) }
        }
        try daily.open(turn)
        settled.formUnion(days.unwritten)
    }

    package func receive(_ message: Message, _ turn: Turn) throws {
        if message.topic.hasPrefix("control.") {
            _ = daily.host.receive(message.body, daily.conditions(turn), turn)
            return
        }
        guard let beat = Heartbeat(message), let head = beat.head else { return }
        if beat.instance == observer {
            daily.device = beat.observer?.device ?? DeviceState()
            zones.hear(head, limit: AnchorVector(base: head.sequence), turn)
            zones.pump(turn)
            // A mark is taken only while no import is in progress.
            if beat.observer?.importOpen != false {
                withdrawMark()
            } else if candidate == nil, head.generation == zones.generation {
                // The time of sending counts, because a heartbeat that arrives late says nothing about what has come in
                // since.
                candidate = (head.sequence, min(message.header.at, turn.now))
            }
        } else if let handler = handlers.first(where: { $0.producer == beat.instance }) {
            handler.hear(head, limit: AnchorVector(base: head.sequence), turn)
            handler.pump(turn)
            if let frontier = beat.frontier[observer] {
                finality.heard(
                    .init(frontier: frontier, head: head.sequence, generation: head.generation), from: beat.instance)
            }
        }
    }

    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {
        if try receive(replayed: answer, turn) { return }
        if try zones.accept(
            answer, turn,
            reset: { _ in withdrawMark() }, apply: { try learnZones($0.page(from: zones.producer), turn) })
        {
            return
        }
        for handler in handlers {
            let taken = try handler.accept(
                answer, turn,
                reset: { _ in try days.markStale(handler: handler.producer, turn) },
                apply: { try apply($0.page(from: handler.producer), of: handler.producer, turn) },
                snapshotEnded: { touched.formUnion(DaySet(try days.dropStale(handler: handler.producer, turn))) })
            if taken { return }
        }
    }

    /// - Parameter users: the users whose rows are applied; nil for all.
    func apply(_ page: ChangesPage, of handler: String, users: Set<String>? = nil, _ turn: Turn) throws {
        for row in page.rows {
            guard let day = row.day else { throw StageError.unreadablePage(producer: handler) }
            guard users?.contains(row.user) != false else { continue }
            let key = SummaryDays.Key(user: row.user, day: day)
            try days.put(row.body.map { $0.read(FiguresBody.self) ?? FiguresBody() }, key: key, handler: handler, turn)
            try settle(key, turn)
        }
    }

    /// Records that a day is to be written, either in this turn or, if the day is over but was never final, once it has settled.
    /// Otherwise a first import would write and deliver each day once for every handler.
    private func settle(_ key: SummaryDays.Key, _ turn: Turn) throws {
        // The data it was computed from has changed since the mark.
        finishing.remove(key)
        var state = try days.state(of: key, turn) ?? SummaryDays.State()
        guard !state.isFinal, state.revision == 0, isOver(key, at: turn.now) else {
            touched.insert(key)
            return
        }
        state.isUnwritten = true
        try days.save(key, state, turn)
        settlingSince = settlingSince ?? turn.monotonic
    }

    /// At 00:01 only the daily task has a deadline: days become final with the observer's first heartbeat after that.
    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        if try daily.advance(timelines.users.compactMap { timelines[$0] }, turn) {
            // Any existing mark was taken before the run; the next heartbeat gives a new one.
            withdrawMark()
        }
        for handler in handlers {
            handler.pump(turn)
            finality.consumed(handler.frontier, handler.generation, of: handler.producer)
        }
        zones.pump(turn)
        pumpReplay(turn)
        if let candidate, zones.frontier >= candidate.head {
            // Zones that are already known apply to the mark too: handlers must have used them in their computation.
            finality.offer(
                max(candidate.head, zones.frontier), at: candidate.heardAt, monotonic: turn.monotonic)
            self.candidate = nil
        }
        let late = finality.missing(at: turn.monotonic)
        if late != missing {
            missing = late
            settled.formUnion(overDays(at: turn.now))
        }
        let mark = finality.reached()
        if let since = settlingSince, mark != nil || turn.monotonic - since >= settlingTime {
            settled.formUnion(days.unwritten)
            settlingSince = nil
            settling.failures = mark == nil ? settling.failures + 1 : 0
        }
        if let mark {
            missing = []
            let over = ends.over(touched, at: mark.heardAt, timelines)
            touched = touched.subtracting(over)
            for key in over.sorted {
                settled.remove(key)
                try finalise(key, turn)
            }
            finishing.formUnion(ends.over(days.open, at: mark.heardAt, timelines))
            finishingMark = mark.heardAt
        }
        try writeDays(turn)
        if days.unwritten.isEmpty, let covered = finality.covered { written = covered }
        if days.open.isEmpty { ends.forget() }
        try daily.finishTurn(turn)
        return [
            daily.host.scheduler.nextDeadline(daily.conditions(turn)), settlingSince.map { $0 + settlingTime },
            settled.isEmpty && finishing.isEmpty ? nil : turn.monotonic,
        ].compactMap { $0 }.min()
    }

    /// Withdraws the mark when it no longer covers everything.
    func withdrawMark() {
        candidate = nil
        withdrawFinality()
    }

    /// Days that haven't become final by now wait for the next mark.
    func withdrawFinality() {
        finality.withdraw()
        finishing.removeAll()
        finishingMark = nil
    }

    private func overDays(at now: Instant) -> DaySet { ends.over(days.open, at: now, timelines) }

    func isOver(_ key: SummaryDays.Key, at now: Instant) -> Bool { ends.isOver(key, at: now, timelines) }

    package func report(_ turn: Turn) throws -> StageReport {
        var common = StageDetails()
        common.tasks = daily.tasks
        let own = ConsolidatorDetails(
            days: days.count, openDays: overDays(at: turn.now).count, missing: missing,
            collisions: collisions.all.map(\.details))
        return StageReport(
            // Zones are an upstream of their own: without them, days don't fully cover the observer's changes.
            frontier: written.map { [observer: min($0, zones.frontier)] } ?? [:],
            details: HeartbeatDetails(own, common))
    }
}
