import Changelog
import Configuration
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit

/// Hosts a handler: marks days as dirty when spans of changes touch them, fetches the days' samples, has the days
/// computed, and commits figures and events.
///
/// It takes the newest day first, and only what the debouncer has released, so that ten years of history never delay
/// today. A day that changes while it is being computed stays dirty (its mark has a newer generation) and is computed
/// again.
package final class HandlerStage: Stage {
    let instance: String
    let manifest: Manifest
    let configuration: Value
    let computer: DayComputer
    /// Whether this process was tried out and takes another's place; if so, its program may be a different one.
    package var takesOver = false
    /// The instants that make up the handler's days, with this configuration.
    private(set) var window = HandlerWindow.localDay
    /// Which sample types belong to this handler.
    let types: TypeChoice

    let upstream: Upstream
    var dirty: DirtyDays
    var timelines = Timelines()
    var characteristics: Characteristics
    /// Slices that have been requested, by the id of their pull.
    var inFlight: [Int64: SliceRun] = [:]
    /// Slices that have arrived, with the days still to be computed from them.
    var fetched: [SliceRun] = []
    /// Days that are being computed outside the stage, by the id of their effect.
    var asked: [Int64: DayJob] = [:]
    /// How many rows a day has had lately, which decides how many days fit into one slice.
    var rowsPerDay = 2000.0
    var failures: [DirtyDays.Key: Int] = [:]
    var freshness = Freshness()
    /// The latest requested chunk of a historical sync.
    var replayed: ReplayedDays?
    /// The outcome of days that were computed since a person asked to replay some.
    var byHand = ReplayTally()
    var news = NewsDays()
    /// The last day checked among those that have figures but can't contain any sample; nil when all have been checked.
    var lastImpossibleDay: DirtyDays.Key? = .init(user: "", day: .min)
    /// The handler's own types that weren't observed according to the last report.
    private var off: Set<String> = []

    /// A handler that is behind by this many sequence numbers begins working on today before it has marked its history.
    static let backfillBeyond: Int64 = 200_000

    /// - Parameter namedTypes: the types that the stack's handlers name; needed by a handler of all others.
    package init(
        instance: String, manifest: Manifest, configuration: Value, computer: DayComputer, namedTypes: Set<String>,
        observer: String
    ) {
        (self.instance, self.manifest, self.configuration) = (instance, manifest, configuration)
        self.computer = computer
        types =
            manifest.types.contains("*")
            ? .allExcept(namedTypes.sorted()) : .only(manifest.sampleTypes)
        upstream = Upstream(
            observer, query: .spans(types), backfillBeyond: Self.backfillBeyond,
            polls: false)
        dirty = DirtyDays()
        characteristics = Characteristics(computer.traits.characteristics)
    }

    package var subscriptions: [Subscription] { [.exact("sync.\(instance)")] }

    package func open(_ turn: Turn) throws {
        window = try computer.traits.window(configuration)
        let database = try turn.write().database
        try DirtyDays.createTables(in: database)
        try Timelines.createTables(in: database)
        try Characteristics.createTables(in: database)
        try Freshness.createTables(in: database)
        try upstream.open(turn)
        try dirty.open(turn)
        try timelines.open(turn)
        try characteristics.open(turn)
        try freshness.open(turn)
        try openReplay(turn)
        try adoptRows(turn)
        let saved = try Freshness.kept("off", in: turn.database) { $0.bytes(0) }
        off = Set((try saved.map { try Value(json: $0) }?.array ?? []).compactMap(\.string))
        try forgetOlderFigures(turn)
        try reconcileConditions(turn)
    }

    /// A type that couldn't be read for a while is missing from every day computed in that time, so all days are
    /// computed again.
    private func notice(off all: Set<String>, _ turn: Turn) throws {
        let own = all.filter(types.takes)
        guard own != off else { return }
        if !off.subtracting(own).isEmpty { try markEverything(turn) }
        off = own
        try Freshness.keep("off", Value.array(own.sorted().map { .string($0) }).json(), turn)
    }

    /// A different version or configuration of the handler may give different figures, so every day is computed again.
    /// The same applies to a handler that takes another's place, no matter which version it claims to be, because its
    /// trial looks only at some days.
    private func forgetOlderFigures(_ turn: Turn) throws {
        let database = try turn.write().database
        let before = try Self.computedWith(database)
        let now = identity
        guard before != now || takesOver else { return }
        if before != nil {
            turn.log(.figuresOutdated, ["handler": manifest.name])
            try markEverything(turn)
            // Days that had no figures may now have some, from new types or with a different window, so their samples
            // are read again.
            try freshness.rereads(through: upstream.frontier, turn)
            try upstream.rewind(besides: off, turn)
        }
        try Freshness.keep("computedWith", now, turn)
    }

    /// Marks every day that this handler has ever had figures for.
    func markEverything(_ turn: Turn) throws {
        let database = try turn.write().database
        let keys = try database.prepare("SELECT DISTINCT user, day FROM changes WHERE day IS NOT NULL")
            .rows { DirtyDays.Key($0) }
        for key in keys { try dirty.mark(key, since: .beginning, turn) }
    }

    package func receive(_ message: Message, _ turn: Turn) throws {
        guard let release = message.body.read(Release.self) else { return }
        let off = Set(release.off)
        try notice(off: off, turn)
        upstream.hear(release.head, limit: release.released, off: off, turn)
        upstream.pump(turn)
        if let replay = release.replay { try hear(replay, turn) }
        if upstream.isLevel { freshness.checked(at: turn.now) }
    }

    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {
        if let run = inFlight[answer.pull.id] {
            inFlight[answer.pull.id] = nil
            try receive(slice: answer, of: run, turn)
            return
        }
        _ = try upstream.accept(
            answer, turn,
            reset: { _ in
                forgetSlices()
                try characteristics.forget(turn)
                try freshness.rereads(through: .beginning, turn)
                try markEverything(turn)
            },
            apply: { try mark($0.page(from: upstream.producer), turn) })
    }

    /// Marks the days that a page of spans touches.
    private func mark(_ page: SpansPage, _ turn: Turn) throws {
        freshness.checked(at: turn.now)
        let from = page.from
        try learnZones(page.zones ?? [:], since: from, turn)
        try learnCharacteristics(page.characteristics ?? [:], since: from, turn)
        guard page.isWhole else { throw StageError.unreadablePage(producer: upstream.producer) }
        let (users, user, start, end) = (page.users, page.user, page.start, page.end)
        guard !user.isEmpty else { return }
        var spans: [String: TouchedTime] = [:]
        for index in user.indices {
            spans[users[Int(user[index])], default: TouchedTime()].add(
                Instant(microseconds: start[index]), Instant(microseconds: end[index]))
        }
        var touched: Set<DirtyDays.Key> = []
        for (name, time) in spans {
            guard let zones = timelines[name] else { throw StageError.unreadablePage(producer: upstream.producer) }
            for range in time.ranges {
                for day in zones.days(touching: range.lowerBound, end: range.upperBound, window) {
                    touched.insert(.init(user: name, day: day.number))
                }
            }
        }
        let isBulk = page.bulk == true
        for key in touched {
            news.mark(key, isBulk: isBulk)
            try dirty.mark(key, since: from, turn)
        }
        try freshness.took(from: from, at: turn.now, turn)
    }

    /// Adopts changed zone timelines. Every day that now covers different instants is computed again if it has figures,
    /// is waiting for them, or is next to such a day.
    private func learnZones(_ zones: [String: Value], since: SequenceNumber, _ turn: Turn) throws {
        for change in try timelines.learn(zones, from: upstream.producer, turn) {
            guard let old = change.old else { continue }
            var days: Set<Int> = []
            func around(_ day: Int) { days.formUnion(ZoneTimeline.neighbours(of: day)) }
            try turn.database.prepare("SELECT DISTINCT day FROM changes WHERE user = ? AND day IS NOT NULL")
                .with(change.user).forEachRow { around($0.int(0)) }
            for key in dirty.marks.keys where key.user == change.user { around(key.day) }
            for key in dirty.failed where key.user == change.user { around(key.day) }
            for day in days.sorted()
            where old.differs(from: change.new, on: LocalDay(number: day), window) {
                try dirty.mark(.init(user: change.user, day: day), since: since, turn)
            }
        }
    }

    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        upstream.pump(turn)
        requestSlices(turn)
        try computeFetched(turn)
        try markImpossibleDays(turn)
        try clearOldNews(turn)
        return nil
    }

    package func report(_ turn: Turn) throws -> StageReport {
        let oldest = dirty.oldestMark ?? DirtyDays.behindEverything
        var common = StageDetails()
        if oldest == DirtyDays.behindEverything { common.consumed = upstream.consumedByType }
        common.replay = replayReport()
        let frontier = min(upstream.frontier, oldest)
        if upstream.reached > frontier { common.reached = [upstream.producer: upstream.reached] }
        let own = HandlerDetails(
            pending: dirty.count, failedDays: dirty.failed.count, lastSynced: freshness.lastSynced,
            conditions: characteristics.watches ? characteristics.conditions.count : nil)
        return StageReport(
            frontier: [upstream.producer: frontier], details: HeartbeatDetails(own, common),
            asides: HeartbeatDetails(CheckDetails(lastChecked: freshness.lastChecked)))
    }
}

extension HandlerStage {
    /// The same with a function that computes the days.
    package convenience init(
        instance: String, manifest: Manifest, configuration: Value, handler: any DayHandler, namedTypes: Set<String>,
        observer: String
    ) {
        self.init(
            instance: instance, manifest: manifest, configuration: configuration, computer: .function(handler),
            namedTypes: namedTypes, observer: observer)
    }

    /// The handler of a plugin, given the context in which it was started.
    package convenience init(_ computer: DayComputer, _ context: PluginContext) {
        self.init(computer, instance: context.instance, stack: context.stack)
    }

    package convenience init(_ handler: any DayHandler, _ context: PluginContext) {
        self.init(.function(handler), context)
    }

    /// The handler of an instance in a stack.
    package convenience init(
        _ handler: any DayHandler, instance: StackConfiguration.Instance, stack: StackConfiguration
    ) {
        self.init(.function(handler), instance: instance, stack: stack)
    }

    private convenience init(
        _ computer: DayComputer, instance: StackConfiguration.Instance, stack: StackConfiguration
    ) {
        self.init(
            instance: instance.name, manifest: instance.manifest, configuration: instance.configuration,
            computer: computer, namedTypes: stack.namedTypes, observer: stack.only(.observer)?.name ?? "observer")
    }
}
