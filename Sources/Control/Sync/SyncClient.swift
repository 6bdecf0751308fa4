import BackgroundDelivery
import Changelog
import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Monitoring
import Protocol

/// Makes a running stack sync now, and waits until everything is consumed and delivered; otherwise reports what is
/// still to come and why.
package final class SyncClient {
    private let stack: Stack
    private let client: StackClient
    private let debouncer: String
    private let roles: StackRoles
    /// If there is no progress for this long, whatever is still to come counts as stuck.
    private static let patience = Duration.seconds(30)
    /// How long the debouncer may take to learn of the observer's head; normally it learns of it within a second.
    private static let headPatience = Duration.seconds(5)
    /// New changes are counted with at most this many requests; beyond that the result is just "many".
    private static let countedRequests = 40
    /// A backend that has given bad answers for this long isn't waited for.
    private static let backendPatience = Duration.seconds(8)
    /// The time before a backend is asked again.
    private static let checkSpacing = Duration.seconds(3)

    /// Called with a description of what is being waited for, if that takes a long time.
    private let report: @Sendable (String) -> Void

    package init(_ stack: Stack, report: @escaping @Sendable (String) -> Void = { _ in }) throws {
        (self.stack, self.report) = (stack, report)
        roles = StackRoles(of: stack.configuration)
        debouncer = try stack.instance(.debouncer).name
        try stack.requireRunning(debouncer)
        client = try StackClient(address: try stack.address)
    }

    package func close() { client.close() }

    private var uploaders: [String] { roles.uploaders }

    package var trust: TrustedDestinations { TrustedDestinations(uploaders, client.heartbeats) }

    private var beat: Heartbeat? { client.heartbeats[debouncer]?.beat }
    private var manual: DebouncerDetails.Manual? { beat?.debouncer?.manual }

    /// Repeats the command until the debouncer has recorded it.
    private func submit(_ command: SyncNow, isTaken: () -> Bool) throws {
        func now() -> [String: Value] {
            var command = command
            if MonotonicClock.now > headDeadline { command.head = nil }
            return command.body
        }
        let headDeadline = MonotonicClock.now + Self.headPatience
        if try client.give(now(), to: debouncer, within: 20, until: { isTaken() ? true : nil }) != nil { return }
        throw AnswerWait(client, for: debouncer, hub: stack.hub).failure(
            else: Failure(
                "the debouncer doesn't accept the command",
                hint: "'healthbus doctor' says what is wrong, and what to do"))
    }

    /// Checks that a name is one of the stack's metrics, which are its handlers.
    package func check(metric: String?) throws {
        let names = stack.configuration.handlers.map(\.name)
        guard let metric, !names.contains(metric) else { return }
        throw Failure.usage("there is no metric '\(metric)'", hint: Nearest.hint(for: metric, among: names))
    }

    package func sync(metric: String?) throws -> Outcome {
        try check(metric: metric)
        let began = MonotonicClock.now
        let reporter = WaitReporter(client, names: stack.names.filter { $0 != stack.hub }, report: report)
        defer { reporter.stop() }
        let before = try hear()
        let concerned = stack.configuration.handlers.filter { metric == nil || $0.name == metric }
        let head = try head()
        let new = try Dictionary(
            uniqueKeysWithValues: concerned.map { ($0.name, try changes(of: $0, until: head, before)) })
        let id = UUID().uuidString.lowercased()
        // Anything imported a moment ago is included, whether or not the debouncer has learned of it yet.
        let command = SyncNow(id: id, metric: metric, head: head?.sequence)
        // This comes first, because anything the backend has lost must be delivered again, and waited for.
        let check = BackendCheckClient(stack, before, sends: true)
        check.ask(client)
        try submit(command) { manual?.id == id }
        let waiting = wait(for: id, metrics: concerned.map(\.name), check: check.id, reporter)
        let beats = client.heartbeats
        let result = manual?.result
        let metrics = concerned.map { handler in
            let name = handler.name
            let pending = beats[name]?.beat.stage.pending ?? 0
            return Metric(
                name: name, new: new[name]?.count, isMany: new[name]?.isMany ?? false,
                delivered: stack.configuration.deliveredFamily(of: handler).map {
                    delivered($0, beats) - delivered($0, before)
                },
                pending: pending,
                why: result?.failed[name] ?? waiting.first)
        }
        let seconds = (MonotonicClock.now - began).seconds
        let reader = stack.reader()
        let saved: [Page<DeliveryPage>] = try reader.pages(try stack.instance(.observer), .delivery)
        let off = saved.first?.registrations.off ?? []
        return Outcome(
            metrics: metrics, waiting: waiting, refused: Self.refused(uploaders, beats).map(stack.advice.addressed),
            off: off,
            alerts: try AlertsReport(stack, reader, now: Date()).findings, seconds: seconds,
            trust: trust, isPhone: PhoneRule.isPhone(stack.configuration, saved.first?.device))
    }

    private func delivered(_ family: String, _ beats: Beats) -> Int64 {
        uploaders.reduce(0) { sum, uploader in
            sum + (beats[uploader]?.beat.uploader?.delivered[family] ?? 0)
        }
    }

    /// The newest heartbeat of each process. Running uploaders are waited for longer: new changes are counted from
    /// their heartbeats.
    private func hear() throws -> Beats {
        let names = stack.names.filter { $0 != stack.hub }
        let stopped = Self.stopped(client.gather(names, within: 0.5))
        let beats = client.gather(names.filter { !stopped.contains($0) }, within: 2.5)
        let reader = stack.reader()
        let missing = try uploaders.filter { try beats[$0] == nil && reader.isRunning($0) }
        return missing.isEmpty ? beats : client.gather(missing, within: 20)
    }

    /// The current head of the observer's changelog; nil when the observer doesn't answer. The observer's heartbeat may
    /// be older than an import that has just ended.
    private func head() throws -> StoreHead? {
        guard !Self.stopped(client.heartbeats).contains(stack.observer) else { return nil }
        let pages = try client.ask(stack.observer, .delivery, within: 20)
        return pages?.first?.head
    }

    /// How many changes of a handler's types haven't been delivered to the destination that is farthest behind; no count
    /// if there are too many to count, or if that is unknown.
    private func changes(
        of handler: StackConfiguration.Instance, until head: StoreHead?,
        _ beats: Beats
    ) throws -> (count: Int?, isMany: Bool) {
        guard let head,
            let (uploader, frontier) = uploaders.compactMap({ name -> (Heartbeat, SequenceNumber)? in
                guard let beat = beats[name]?.beat, let frontier = beat.frontier[stack.observer] else { return nil }
                return (beat, frontier)
            }).min(by: { $0.1 < $1.1 })
        else { return (nil, false) }
        guard frontier < head.sequence else { return (0, false) }
        let types: TypeChoice =
            handler.manifest.types.contains("*")
            ? .allExcept(stack.configuration.namedTypes.sorted()) : .only(handler.manifest.typesWithStatistics)
        var after = (uploader.stage.consumed ?? AnchorVector(base: max(frontier, head.first.previous)))
        let until = AnchorVector(base: head.sequence)
        var count = 0
        for _ in 0..<Self.countedRequests {
            let place = PullPlace(store: head.store, generation: head.generation, after: after, until: until)
            let pages = try client.ask(stack.observer, .samples(types), place, within: 20)
            guard let pages, let through = pages.last?.through else { return (nil, false) }
            count += pages.reduce(0) { $0 + $1.samples.count }
            if through >= head.sequence { return (count, false) }
            after = after.advanced(to: through, within: until)
        }
        return (nil, true)
    }

    /// Waits until the sync's round has ended, its results have been delivered, and the backend has been compared with
    /// them; returns what blocks this.
    /// - Parameters:
    ///   - metrics: the handlers concerned.
    ///   - check: the id of the comparison requested from backends when the sync began.
    private func wait(for id: String, metrics: [String], check: String, _ reporter: WaitReporter) -> [String] {
        var progress = ProgressWatch()
        var refusedSince: MonotonicTime?
        var silentSince: [String: MonotonicTime] = [:]
        var checks: Set<String> = [check]
        var nextCheck = MonotonicTime.distantPast
        var looked = MonotonicClock.now
        // How long only a comparison has been missing: continuing deliveries don't extend this wait.
        var comparing = Duration.zero
        while true {
            let manual = manual
            if let problem = manual?.problem { return [problem] }
            let beats = client.heartbeats
            let silences = Self.silences(roles, metrics: metrics, beats)
            let causes = silences.map(\.text)
            var waits = Self.waits(manual, id, beats, roles, silences: silences)
            if Self.isVain(silences, waits, roles) { return waits }
            silentSince = silences.reduce(into: [:]) { $0[$1.name] = silentSince[$1.name] ?? MonotonicClock.now }
            if silentSince.values.contains(where: { MonotonicClock.now - $0 > Self.patience }) { return waits }
            let step = MonotonicClock.now - looked
            looked += step
            if waits.isEmpty {
                let uncompared = Self.uncompared(uploaders, beats, asked: checks)
                if uncompared.isEmpty { return [] }
                waits = uncompared.map(\.text)
                comparing += step
                let isHindered = uncompared.contains { $0.why != nil }
                if comparing > (isHindered ? Self.backendPatience : Self.patience) { return waits }
                if MonotonicClock.now >= nextCheck {
                    let again = BackendCheckClient(uploaders: uncompared.map(\.uploader), sends: false)
                    checks.insert(again.id)
                    again.ask(client, within: 1)
                    nextCheck = MonotonicClock.now + Self.checkSpacing
                }
            }
            for uploader in uploaders {
                guard let reported = beats[uploader]?.beat.uploader, let why = reported.blocked else { continue }
                let since = refusedSince ?? MonotonicClock.now
                refusedSince = since
                if reported.paused || MonotonicClock.now - since > Self.backendPatience {
                    return causes + ["\(uploader): \(why)"]
                }
            }
            if uploaders.allSatisfy({ beats[$0]?.beat.stage.blocked == nil }) { refusedSince = nil }
            let now = MonotonicClock.now
            reporter.waits(for: waits, hasMoved: progress.look(beats, at: now))
            if progress.stillness(at: now) > Self.patience { return reporter.silent(besides: silences) + waits }
            client.wait(until: Date(timeIntervalSinceNow: 0.1))
        }
    }

    // MARK: History

    /// Begins a historical sync, and follows it to its end.
    /// - Parameters:
    ///   - span: a number of days, or "all".
    ///   - orFail: fail if it can't begin at once, instead of waiting.
    ///   - progress: chunks done, chunks in total, and seconds since this command began.
    /// - Throws: `Failure` also when a historical sync is already in progress.
    package func history(
        _ span: Value, orFail: Bool = false, progress: (_ done: Int, _ total: Int, _ seconds: Double) -> Void
    ) throws -> HistoryOutcome {
        let began = MonotonicClock.now
        let id = UUID().uuidString.lowercased()
        _ = client.gather([debouncer], within: 5)
        try submit(SyncNow(id: id, history: span, strategy: orFail ? "fail" : nil)) { manual?.id == id }
        if let problem = manual?.problem { throw Failure(problem) }
        var last: DebouncerDetails.History?
        var silentSince = MonotonicClock.now
        while true {
            client.wait(until: Date(timeIntervalSinceNow: 0.1))
            let beat = beat
            let now = beat?.debouncer?.history
            if let now {
                if now != last { silentSince = MonotonicClock.now }
                last = now
                progress(now.done, now.chunks, (MonotonicClock.now - began).seconds)
            }
            let task = beat?.stage.tasks?.first { $0.id == "historical" }
            if now == nil, task?.state == .idle, let outcome = task?.history?.lastOutcome {
                guard outcome == .succeeded else {
                    throw Failure("the historical sync was \(outcome.rawValue)", hint: "start it again to continue")
                }
                return HistoryOutcome(
                    chunks: last?.chunks, from: last?.from, through: last?.through,
                    seconds: (MonotonicClock.now - began).seconds, onTrust: !trust.isEmpty)
            }
            if MonotonicClock.now - silentSince > Self.patience * 4 {
                let why = (blockedUploader ?? task?.waitsFor).map { " (\($0))" } ?? ""
                let still = Int((MonotonicClock.now - silentSince).seconds)
                throw Failure(
                    "there has been no progress on the historical sync for \(still) s; it is still waiting\(why)",
                    hint: "it continues automatically; 'healthbus tasks list' shows how far it is")
            }
        }
    }

    private var blockedUploader: String? {
        uploaders.lazy.compactMap { [client] in client.heartbeats[$0]?.beat.stage.blocked }.first
    }
}

/// What a historical sync delivered, as `sync --history --json` prints it.
package struct HistoryOutcome: Codable, Sendable {
    /// Weeks.
    @OrNull package var chunks: Int?
    @OrNull package var from: String?
    @OrNull package var through: String?
    package var seconds: Double
    package var onTrust: Bool
}
