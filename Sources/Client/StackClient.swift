import BackgroundDelivery
import Clocks
import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization

/// A tool's connection to the bus: it requests pages from producers, receives heartbeats, and sends commands. It keeps
/// no anchor and doesn't delay any process.
package final class StackClient: Sendable {
    private struct State {
        var pulls: PullClient
        var answers: [Int64: PullAnswer] = [:]
        var beats: [String: (beat: Heartbeat, at: MonotonicTime)] = [:]
        /// Heartbeats so far.
        var heard = 0
        /// For each instance that was asked and hasn't answered since, the time when it was first asked.
        var asked: [String: MonotonicTime] = [:]
    }

    /// The tool's name on the bus.
    package let name: String
    private let state: Mutex<State>
    private let changed = NSCondition()
    private let bus = Mutex<BusConnection?>(nil)
    /// Requests to this tool, passed to the thread that answers them.
    private let requests = Mailbox<Value>(capacity: 16)

    /// Connects; the stack need not be running.
    /// - Parameters:
    ///   - beat: a message that this tool sends repeatedly, if any.
    ///   - pace: how often it repeats that message.
    ///   - hears: further topics to receive, and a function that handles their messages on the bus thread; it must be
    ///     quick.
    package init(
        address: BusAddress, beat: (@Sendable () -> Message?)? = nil,
        pace: @escaping @Sendable () -> BusConnection.Pace = { .quiet },
        hears: (topics: [Subscription], message: @Sendable (Message) -> Void)? = nil
    ) throws {
        let number = "\(ProcessInfo.processInfo.processIdentifier)-\(UInt32.random(in: .min ... .max))"
        // On a sealed bus a tool's name begins with the name of its key's owner.
        let name = BusName.toolPrefix(of: address.seal?.identity) + number
        self.name = name
        state = Mutex(State(pulls: PullClient(consumer: name)))
        let connection = try BusConnection(
            address: address,
            subscriptions: [.exact(PageHeader.topic(name)), .exact(PullHeader.topic(name)), .prefix("heartbeat.")]
                + (hears?.topics ?? []),
            handlers: .init(
                message: { [weak self] message in
                    hears?.message(message)
                    self?.receive(message)
                }, heartbeat: beat ?? { nil }, pace: pace, answersHello: beat != nil))
        bus.withLock { $0 = connection }
    }

    deinit { close() }

    /// Sends its repeated message at once.
    package func beat() { bus.withLock { $0 }?.beat() }

    package func close() {
        requests.close()
        bus.withLock { $0 }?.close()
    }

    /// Answers pulls from now on, on a separate thread, so that a source may take its time.
    /// - Parameter answer: returns the parts of the answer, in order, or why there are none.
    package func serve(_ answer: @escaping @Sendable (FileQuery) -> Result<[FilePage], PullRefusal>) {
        Thread.begin("pulls") { [requests, weak self] in
            while !requests.isClosed {
                for request in requests.take(limit: 1, timeout: 60) { self?.reply(to: request, answer) }
            }
        }
    }

    private func reply(to request: Value, _ answer: (FileQuery) -> Result<[FilePage], PullRefusal>) {
        guard let asked = request.read(PullHeader.self) else { return }
        let topic = PageHeader.topic(asked.consumer)
        let header = PageHeader(asked, producer: name)
        do {
            guard let query = try Question(members: request, among: [FileQuery.self]).query as? FileQuery else {
                return
            }
            let parts = try answer(query).get()
            for (number, part) in parts.enumerated() {
                send(topic, header.body(part, part: Int64(number), isLast: number == parts.count - 1))
            }
        } catch {
            let reason = (error as? PullRefusal)?.reason ?? "\(error)"
            send(topic, header.body(error: PageHeader.refused, reason: reason))
        }
    }

    private func receive(_ message: Message) {
        // If the mailbox is full, the request is dropped; its sender repeats it.
        if message.topic == PullHeader.topic(name) {
            requests.offer(message.body)
            return
        }
        state.withLock { state in
            if let beat = Heartbeat(message) {
                state.beats[beat.instance] = (beat, MonotonicClock.now)
                state.asked[beat.instance] = nil
                state.heard += 1
            } else if let answer = state.pulls.receive(
                message.body, from: message.header.from, at: MonotonicClock.now)
            {
                state.answers[answer.pull.id] = answer
            }
        }
        changed.withLock { changed.broadcast() }
    }

    /// Sends a command to an instance. The command may be lost: the caller checks for its effect and repeats it.
    package func command(_ instance: String, _ body: [String: Value]) {
        send("control.\(instance)", .object(body))
    }

    private func send(_ topic: String, _ body: Value) {
        bus.withLock { $0 }?.send(Message(topic: topic, header: .init(from: name, at: WallClock.now), body: body))
    }

    /// Asks every process to report now.
    package func hello() {
        let now = MonotonicClock.now
        state.withLock { state in
            for name in state.beats.keys where state.asked[name] == nil { state.asked[name] = now }
        }
        send(BusConnection.hello, .null)
    }

    /// For each known instance, how many seconds ago it was first sent a `hello` that it hasn't answered; instances
    /// that have answered are left out. Time with no unanswered `hello` doesn't count.
    package var unanswered: [String: Double] {
        let now = MonotonicClock.now
        return state.withLock { $0.asked.mapValues { (now - $0).seconds } }
    }

    /// The latest heartbeat of each instance, with its age in seconds.
    package var heartbeats: [String: (beat: Heartbeat, age: Double)] {
        let now = MonotonicClock.now
        return state.withLock { $0.beats.mapValues { ($0.beat, (now - $0.at).seconds) } }
    }

    /// Asks until all of `instances` have answered or `seconds` have passed.
    /// - Parameter asking: if false, only waits for the heartbeats that the hub requests anyway whenever somebody
    ///   connects.
    @discardableResult
    package func gather(
        _ instances: [String], within seconds: Double, asking: Bool = true
    ) -> [String: (beat: Heartbeat, age: Double)] {
        let deadline = MonotonicClock.now + .seconds(seconds)
        settle()
        var nextHello = MonotonicTime.distantPast
        while MonotonicClock.now < deadline {
            let beats = heartbeats
            if instances.allSatisfy({ beats[$0] != nil }) { break }
            // Sent repeatedly, since the message may be lost.
            if asking, MonotonicClock.now >= nextHello {
                hello()
                nextHello = MonotonicClock.now + .milliseconds(50)
            }
            wait(until: Date(timeIntervalSinceNow: 0.02))
        }
        return heartbeats
    }

    /// Waits a moment for the first heartbeat: the hub sends one to each newcomer, and anything this tool sends before
    /// that is lost.
    package func settle() {
        let deadline = Date(timeIntervalSinceNow: 0.15)
        while state.withLock({ $0.beats.isEmpty }), Date() < deadline {
            wait(until: min(deadline, Date(timeIntervalSinceNow: 0.01)))
        }
    }

    /// Waits for anything to arrive.
    package func wait(until date: Date) {
        changed.withLock { _ = changed.wait(until: date) }
    }

    /// Waits until a heartbeat arrives, unless one has already arrived since `wait` last returned.
    /// - Parameter heard: how many heartbeats had been heard, 0 at first; updated to the current number.
    package func wait(forHeartbeatAfter heard: inout Int, until date: Date) {
        let known = heard
        // This holds the lock, so that no heartbeat can arrive between checking and waiting.
        changed.withLock {
            while state.withLock({ $0.heard }) == known, changed.wait(until: date) {}
        }
        heard = state.withLock { $0.heard }
    }

    /// The pages that answer a query; none when the producer doesn't know the anchor, nil when it hasn't answered in
    /// time.
    package func ask<Asked: Query>(
        _ producer: String, _ query: Asked, _ place: PullPlace = PullPlace(), within seconds: Double
    ) throws -> [Page<Asked.Answer>]? {
        try bodies(producer, Question(query, place), within: seconds).map { try Page.all($0, from: producer) }
    }

    package func bodies(_ producer: String, _ question: Question, within seconds: Double) throws -> [Value]? {
        let deadline = MonotonicClock.now + .seconds(seconds)
        settle()
        let pull = Pull(id: Int64.random(in: 1 ... .max), producer: producer, question: question)
        let id = pull.id
        let request = state.withLock { $0.pulls.begin(pull, at: MonotonicClock.now) }
        // Nobody takes an answer that comes too late.
        defer {
            state.withLock {
                $0.pulls.forget(id)
                $0.answers[id] = nil
            }
        }
        send(request.topic, request.body)
        var nextRepeat = MonotonicClock.now + .milliseconds(100)
        while MonotonicClock.now < deadline {
            if let answer = state.withLock({ $0.answers.removeValue(forKey: id) }) {
                switch answer.result {
                case .pages(let pages): return pages
                case .reset: return []
                case .refused(let why): throw StageError.refused(producer: producer, why: why)
                case .databaseInaccessible:
                    throw DeliveryError(
                        .databaseInaccessible, producer,
                        remedy: "unlock the device, or 'healthbus device set locked=false'"
                    )
                }
            }
            if MonotonicClock.now >= nextRepeat {
                // The first request may have been sent before the connection was established.
                send(request.topic, request.body)
                nextRepeat = MonotonicClock.now + .milliseconds(200)
            }
            for again in state.withLock({ $0.pulls.overdue(at: MonotonicClock.now) }) { send(again.topic, again.body) }
            wait(until: Date(timeIntervalSinceNow: 0.02))
        }
        return nil
    }
}
