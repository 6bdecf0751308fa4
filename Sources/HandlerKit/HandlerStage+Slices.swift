import Changelog
import Configuration
import HealthModel
import MessageBus
import Protocol
import StageKit

/// Some days, close together, whose samples are fetched in one slice.
struct SliceRun {
    var user: String
    /// The days, each with the mark that it had when the slice was requested.
    var days: [(day: LocalDay, generation: Int64)]
    var slice: SliceRequest
    /// The state of the store that is reflected in the slice.
    var place: PullPlace
    var samples = SamplePage()

    var isTooLarge: Bool {
        samples.count > HandlerStage.rowLimit
            || samples.metadata.bytes.count + samples.payload.bytes.count > HandlerStage.textLimit
    }
}

extension HandlerStage {
    /// How many slices may be in progress at once: one is being computed while the next is fetched.
    private static let concurrentRuns = 2
    private static let rowsPerRun = 20_000.0
    private static let longestRun = 16
    /// The maximum number of rows to fetch for days in between that needn't be computed: up to this number, they cost
    /// less than another request and the commit that follows it.
    private static let rowsPassedOver = 500.0
    private static let longestGap = 64
    /// The maximum number of rows for one day, or for several that are fetched together: no more than this are kept in
    /// memory.
    static let rowLimit = 250_000
    static let textLimit = 24 << 20
    /// Days are computed once the handler is closer than this to the end of what is released; further behind, they
    /// would only have to be computed again.
    private static let nearby: Int64 = 5000

    /// Requests the samples of the newest dirty days, once nearly everything released has been marked.
    func requestSlices(_ turn: Turn) {
        guard upstream.isLive(within: Self.nearby), !upstream.isHeldUp(turn) else { return }
        // One slice that has arrived may be computed while the others are fetched. There are never more slices than
        // this, however days are computed.
        while inFlight.count < Self.concurrentRuns, inFlight.count + fetched.count <= Self.concurrentRuns,
            let run = nextRun(turn)
        {
            inFlight[turn.pull(upstream.producer, .slice(run.slice), run.place).id] = run
        }
    }

    /// The days whose samples have been requested or have arrived.
    private var busy: Set<DirtyDays.Key> {
        var busy = Set(asked.values.map(\.key))
        for run in Array(inFlight.values) + fetched {
            for (day, _) in run.days { busy.insert(.init(user: run.user, day: day.number)) }
        }
        return busy
    }

    /// Called when slices that are under way no longer count: their store is gone, or everything is read again.
    func forgetSlices() {
        inFlight = [:]
        fetched = []
        asked = [:]
    }

    private func nextRun(_ turn: Turn) -> SliceRun? {
        let busy = busy
        // The limit is a year ahead, so that a clock that is off by less changes nothing.
        let soon = Int(turn.now.microseconds / (86_400 * Instant.microsecondsPerSecond)) + 366
        guard let newest = dirty.next(besides: busy, soon: soon), let zones = timelines[newest.user] else {
            return nil
        }
        let limit = max(1, min(Self.longestRun, Int(Self.rowsPerRun / max(rowsPerDay, 1))))
        let gap = min(Self.longestGap, Int(Self.rowsPassedOver / max(rowsPerDay, 1)))
        var days: [(LocalDay, Int64)] = []
        var key = newest
        var passedOver = 0
        while days.count < limit, passedOver <= gap {
            if !busy.contains(key), let mark = dirty.marks[key] {
                days.append((LocalDay(number: key.day), mark.generation))
            } else {
                passedOver += 1
            }
            key.day -= 1
        }
        let cursor = upstream.cursor
        let slice = slice(newest.user, days.map(\.0), zones, as: cursor, window)
        return SliceRun(
            user: newest.user, days: days, slice: slice,
            place: PullPlace(store: cursor.store, generation: cursor.generation))
    }

    /// The request for all samples from the first to the last of some days, as of a cursor's position.
    func slice(
        _ user: String, _ days: [LocalDay], _ zones: ZoneTimeline, as cursor: Cursor, _ window: HandlerWindow
    ) -> SliceRequest {
        let slices = days.flatMap { zones.slice(of: $0, window) }
        let traits = computer.traits
        // A date that was skipped has no instants, and so no samples: an empty range.
        return SliceRequest(
            user: user, types: types, asOf: cursor.anchor, from: slices.map(\.lowerBound).min() ?? .epoch,
            to: slices.map(\.upperBound).max() ?? .epoch, detailed: .list(traits.detailedTypes.sorted()),
            payloads: traits.payloadTypes.sorted(), during: traits.during)
    }

    /// Days that together hold too much are fetched one by one. A day that holds too much on its own isn't computed,
    /// but doesn't hold up any other.
    private func leave(_ run: SliceRun, _ turn: Turn) throws {
        if run.days.count > 1 {
            rowsPerDay = Self.rowsPerRun
        } else if let (day, generation) = run.days.first {
            let reason = "the day holds more than \(Self.rowLimit) samples, or 24 MiB of metadata and payloads"
            turn.log(
                .dayFailed, ["handler": manifest.name, "day": "\(day)", "why": reason, "attempt": 1])
            let key = DirtyDays.Key(user: run.user, day: day.number)
            byHand.failed(key)
            try dirty.fail(key, reason: reason, turn)
            try alert(of: reason, day: day, turn)
            try dirty.clear(key, generation: generation, turn)
        }
        requestSlices(turn)
    }

    func receive(slice answer: PullAnswer, of run: SliceRun, _ turn: Turn) throws {
        var run = run
        switch answer.result {
        // The upstream's own cursor is reset too, which marks the days again.
        case .reset: return
        case .refused(let why): return upstream.wasRefused(why, turn)
        // The days stay marked.
        case .databaseInaccessible: return upstream.becameInaccessible(turn)
        case .pages(let pages):
            let pages: [SlicePage] = try pages.map { try $0.page(from: upstream.producer) }
            for page in pages { run.samples.append(page.samples) }
            if run.isTooLarge { return try leave(run, turn) }
            guard let last = pages.last else { throw StageError.unreadablePage(producer: upstream.producer) }
            if let place = last.continue {
                run.slice.continue = place
                inFlight[turn.pull(upstream.producer, .slice(run.slice), run.place).id] = run
                return
            }
        }
        rowsPerDay = rowsPerDay * 0.5 + Double(run.samples.count) / Double(run.days.count) * 0.5
        fetched.append(run)
        // The next slices are fetched while these days are computed.
        requestSlices(turn)
        try computeFetched(turn)
    }
}
