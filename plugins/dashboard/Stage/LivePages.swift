import Client
import Clocks
import Configuration
import Doctor
import Foundation
import HTTP
import HealthModel
import Inspection
import Monitoring
import Protocol
import Synchronization

/// Sends the current state to open pages: the pipeline every second and when a process changes its state, days and
/// waits when they change. It is idle while no page is open.
package final class LivePages: Sendable {
    private struct State {
        var viewers: [Viewer] = []
        var view: PipelineView?
        var rates: [String: Double]?
        var waits: [UInt8] = []
        var isStopped = false
    }

    private struct Viewer {
        var stream: EventStream
        /// The one person whose news the page may receive; nil for everybody's.
        var only: String?
    }

    private let stack: Stack
    private let client: StackClient
    private let counter: TopicCounter
    private let taps: TapStreams
    private let state = Mutex(State())
    private let arrived = (look: DispatchSemaphore(value: 0), waits: DispatchSemaphore(value: 0))

    /// The time within which most processes have answered.
    private static let answerTime = 0.15
    /// All processes are asked twice a second, so a hanging process is noticed after the second question.
    private static let asking = Duration.milliseconds(500)
    /// The seconds between two beats, from which readers learn that the stream isn't dead.
    private static let beating = 10.0

    /// - Parameter taps: streams whose readers are sent a beat every ten seconds while a page is open.
    package init(_ stack: Stack, _ client: StackClient, _ counter: TopicCounter, taps: TapStreams) {
        (self.stack, self.client, self.counter, self.taps) = (stack, client, counter, taps)
    }

    package func start() {
        Thread.begin("look") { [self] in lookOn() }
        Thread.begin("waits") { [self] in waitOn() }
    }

    package func stop() {
        let viewers = state.withLock { state in
            state.isStopped = true
            return state.viewers
        }
        for viewer in viewers { viewer.stream.end() }
        wake()
    }

    private func wake() {
        arrived.look.signal()
        arrived.waits.signal()
    }

    package var viewers: Int { state.withLock { $0.viewers.count } }

    /// Opens a stream for one more page, and sends it the current state at once.
    /// - Parameter only: the one person whose news the page may receive; nil for everybody's.
    func open(for only: String?) -> EventStream {
        let stream = EventStream()
        let (view, rates, waits) = state.withLock { state in
            state.viewers.append(Viewer(stream: stream, only: only))
            return (state.view, state.rates, state.waits)
        }
        stream.whenClosed { [weak self] in
            self?.state.withLock { state in
                state.viewers.removeAll { $0.stream === stream }
                // The next reader must not start from the old state.
                if state.viewers.isEmpty { (state.view, state.rates, state.waits) = (nil, nil, []) }
            }
        }
        stream.beat()
        if let view { stream.send("pipeline", data: Array(view.value(rates: rates).json().utf8)) }
        if !waits.isEmpty { stream.send("waits", data: waits) }
        wake()
        return stream
    }

    /// - Parameter user: whose news it is; nil if it concerns nobody in particular.
    private func send(_ event: StaticString, _ data: [UInt8], of user: String? = nil) {
        for viewer in state.withLock({ $0.viewers }) {
            if let user, let only = viewer.only, user != only { continue }
            viewer.stream.send(event, data: data)
        }
    }

    /// Says to open pages that summaries have changed.
    package func changed(_ changes: [SeriesKeeper.Change]) {
        for change in changes {
            let dates = change.days.sorted().suffix(Self.datesSent)
            let value: Value = [
                "user": .string(change.user), "dates": .array(dates.map { .string($0.description) }),
                "more": .bool(change.days.count > dates.count),
            ]
            send("days", Array(value.json().utf8), of: change.user)
        }
    }

    private static let datesSent = 100

    // MARK: The pipeline

    /// The latest view, or a new one if no page is open.
    func pipeline() -> Value {
        let known = state.withLock { state in state.view.map { ($0, state.rates) } }
        if let (view, rates) = known { return view.value(rates: rates) }
        return lookOnce().value(rates: nil)
    }

    /// Asks until all processes have answered, or for long enough to know which ones hang.
    private func lookOnce() -> PipelineView {
        let began = MonotonicClock.now
        let before = sample()
        repeat {
            client.hello()
            Thread.sleep(forTimeInterval: 0.3)
            let (beats, unanswered) = (client.heartbeats, client.unanswered)
            if stack.names.allSatisfy({ (beats[$0] != nil && unanswered[$0] == nil) || $0 == stack.hub }) { break }
        } while (MonotonicClock.now - began).seconds < PipelineView.patience + 0.5
        return view(sample().following(before), after: nil)
    }

    private func view(_ sample: TopSample, after old: PipelineView?) -> PipelineView {
        PipelineView(
            stack.configuration, sample, client.heartbeats, unanswered: client.unanswered, after: old)
    }

    private func sample() -> TopSample {
        TopSample(
            names: stack.names, beats: client.heartbeats, now: WallClock.now,
            monotonic: MonotonicClock.now)
    }

    private func lookOn() {
        var before: TopSample?
        var (counts, countedAt) = (counter.all, MonotonicClock.now)
        var (rates, news) = ([String: Double]?.none, ImportNews())
        var look = 0
        while !state.withLock({ $0.isStopped }) {
            guard viewers > 0 else {
                (before, rates, look) = (nil, nil, 0)
                // Programs may read the messages while no page is open.
                if arrived.look.wait(timeout: .now() + Self.beating) == .timedOut { taps.beat() }
                (counts, countedAt) = (counter.all, MonotonicClock.now)
                continue
            }
            let at = MonotonicClock.now
            client.hello()
            Thread.sleep(forTimeInterval: Self.answerTime)
            let sample = before.map { self.sample().following($0) } ?? self.sample()
            let old = state.withLock { $0.view }
            let view = view(sample, after: old)
            // Numbers are sent every second; in between, pages only learn which processes hang or have come back.
            let isWhole = look % 2 == 0
            if isWhole {
                let (newCounts, now) = (counter.all, MonotonicClock.now)
                rates = TopicCounter.rates(newCounts, since: counts, seconds: (now - countedAt).seconds)
                (before, counts, countedAt) = (sample, newCounts, now)
            }
            state.withLock { if !$0.viewers.isEmpty { ($0.view, $0.rates) = (view, rates) } }
            if isWhole || old.map(view.isLike) != true {
                send("pipeline", Array(view.value(rates: rates).json().utf8))
            }
            sendImports(&news)
            look += 1
            if look % 20 == 0 {
                for viewer in state.withLock({ $0.viewers }) { viewer.stream.beat() }
                taps.beat()
            }
            let rest = (Self.asking - (MonotonicClock.now - at)).seconds
            if rest > 0 { Thread.sleep(forTimeInterval: rest) }
        }
    }

    private func sendImports(_ news: inout ImportNews) {
        let rows = news.look(client.heartbeats[stack.observer]?.beat.observer?.reading) {
            (try? ImportsReport(stack, stack.reader(over: client)))?.value["imports"].array ?? []
        }
        for row in rows {
            guard let user = row["user"].string else { continue }
            send("import", Array(row.json().utf8), of: user)
        }
    }

    // MARK: What waits

    func waits() -> [UInt8] { Array(waitList(earlier: [:]).value.json().utf8) }

    private func waitList(earlier: Beats) -> WaitList {
        // Processes are asked again first, so that a hanging one isn't asked for a report that it can't give.
        client.hello()
        Thread.sleep(forTimeInterval: Self.answerTime)
        return WaitList(
            stack, stack.reader(over: client), client.heartbeats, earlier: earlier, now: WallClock.now)
    }

    /// The seconds between two looks, so that news is shown within two.
    private static let pause = 1.5

    private func waitOn() {
        var earlier: Beats = [:]
        while !state.withLock({ $0.isStopped }) {
            guard viewers > 0 else {
                earlier = [:]
                arrived.waits.wait()
                continue
            }
            let list = Array(waitList(earlier: earlier).value.json().utf8)
            earlier = client.heartbeats
            let isNew = state.withLock { state in
                defer { if !state.viewers.isEmpty { state.waits = list } }
                return state.waits != list
            }
            if isNew { send("waits", list) }
            Thread.sleep(forTimeInterval: Self.pause)
        }
    }
}
