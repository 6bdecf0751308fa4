import HealthModel
import HomeAssistantStage
import MQTT
import Simulation
import StageKit

/// An MQTT broker, and the thread of a simulated process that is connected to it. `BrokerModelTests` compares both with
/// Mosquitto and a `BrokerRunner`.
final class BrokerModel: DestinationModel {
    /// One life of the process.
    private struct Session {
        let host: SimulatedHost
        let life: Int
        let effect: Int64
        let topics: MQTTTopics
        var exchange = BrokerExchange()
        /// Of the connection, or of its end: what was on its way over an earlier one never arrives.
        var number = 0
        /// Whether the connection exists at the broker.
        var isConnected = false
        /// What it has subscribed to, level by level.
        var filters: [[Substring]] = []
        var posts: Int32 = 0
        /// When the last of what is on its way arrives: nothing overtakes it.
        var arrival = MonotonicTime.distantPast

        var isAlive: Bool { host.isRunning && host.lives == life }
    }

    private unowned let world: SimulatedWorld
    private var session: Session?
    private var connections = 0
    /// What the broker has retained, by topic.
    private(set) var retained: [String: String] = [:]
    private var earlier: [String: String]?
    /// How likely an attempt to connect, an answer or a request is to go wrong.
    var failureRate = 0.0
    private var wasAsked = false
    /// Only the time between two instants matters, so the simulation's clock can begin anywhere on the real one.
    private let origin = ContinuousClock.now

    init(in world: SimulatedWorld) { self.world = world }

    private var now: ContinuousClock.Instant { origin + .microseconds(world.monotonic.microseconds) }

    func perform(_ effect: Effect, of host: SimulatedHost) {
        wasAsked = true
        if let request = effect.request as? KeepConnected {
            // The machine has ended the connection of the life before.
            endConnection(leavingWill: true)
            session = Session(host: host, life: host.lives, effect: effect.id, topics: request.topics)
            connect()
        } else if let request = effect.request as? Publish {
            publish(request, effect.id)
        }
    }

    // MARK: The process

    private func connect() {
        guard let current = session, current.isAlive else { return }
        connections += 1
        session?.number = connections
        if world.chance(failureRate) {
            let reasons: [MQTTError] = [
                .connection("connection refused"), .refused(3, "broker unavailable"), .refused(5, "not authorised"),
            ]
            return send([.ended(reasons[world.pick(0...2)])])
        }
        session?.isConnected = true
        send([.connected])
        guard world.chance(failureRate) else { return }
        let number = connections
        world.schedule(
            .action { [unowned self] in if session?.number == number { cut() } },
            after: world.time(microseconds: 0...20_000_000))
    }

    private func receive(_ events: [MQTTConnection.Event], _ number: Int) {
        guard var current = session, current.number == number, current.isAlive else { return }
        let steps = current.exchange.take(events, of: current.topics, at: now)
        session = current
        var filters: [String] = []
        for step in steps {
            switch step {
            case .subscribe(let filter): filters.append(filter)
            case .report(let news): answer(current.effect, news)
            case .done(let request): answer(request, Published())
            case .ended(let why): return lose(why)
            }
        }
        if !filters.isEmpty { subscribe(filters) }
        guard let look = current.exchange.look else { return }
        world.schedule(
            .action { [unowned self] in receive([], number) }, after: .milliseconds(Int64(look.milliseconds(at: now))))
    }

    private func answer(_ effect: Int64, _ value: any Sendable) {
        guard let session else { return }
        world.schedule(
            .effect(session.host, life: session.life, EffectResult(id: effect, value: value)), after: .zero)
    }

    private func lose(_ why: MQTTError) {
        guard let current = session, let wait = session?.exchange.lose(at: now) else { return }
        answer(current.effect, BrokerNews.lost(why, retryAfter: wait))
        world.schedule(
            .action { [unowned self] in if session?.number == current.number { connect() } },
            after: .microseconds(Int64(wait * 1e6)))
    }

    /// Nothing reaches a broker over a connection that has ended, even if the process doesn't know that yet.
    private func publish(_ request: Publish, _ effect: Int64) {
        guard let topics = session?.topics, session?.exchange.isOpen == true, session?.isConnected == true else {
            return
        }
        var (stored, isLost, copies, late) = (request.posts.count, false, 1, Duration.zero)
        if world.chance(failureRate) {
            world.note("broker failed")
            switch world.pick(0...6) {
            case 0: (stored, isLost) = (0, true)
            case 1: (stored, isLost) = (world.pick(0...stored), true)
            case 2: isLost = true
            case 3: late = world.time(microseconds: 500_000...8_000_000)
            case 4: copies = 2
            case 5: publish(.init(topic: topics.birth, payload: "online"), isRetained: false)
            default:
                // Somebody else removes a message.
                let others = retained.keys.sorted()
                if !others.isEmpty { publish(.init(topic: others[world.pick(0...others.count - 1)], payload: "")) }
            }
        }
        let heard = request.posts.prefix(stored).flatMap { store($0) }
        guard !isLost else { return cut() }
        var acknowledged: [MQTTConnection.Event] = []
        for _ in request.posts {
            let number = (session?.posts ?? 0) + 1
            session?.posts = number
            session?.exchange.sent(number, of: effect)
            acknowledged.append(.acknowledged(number))
        }
        // A broker may acknowledge before or after it passes messages on.
        var parts = [acknowledged, Array(repeating: heard, count: copies).flatMap { $0 }]
        if world.pick(0...1) == 0 { parts.reverse() }
        send(parts[0])
        send(parts[1], late: late)
    }

    // MARK: The broker

    /// Sends events to the process, in order, some of them a little later.
    private func send(_ events: [MQTTConnection.Event], late: Duration = .zero) {
        let middle = world.pick(0...events.count)
        for part in [events[..<middle], events[middle...]] where !part.isEmpty {
            guard let current = session else { return }
            let at = max(current.arrival, world.monotonic + late + world.time(microseconds: 200...20_000))
            session?.arrival = at
            world.schedule(
                .action { [unowned self] in receive(Array(part), current.number) }, after: at - world.monotonic)
        }
    }

    private func subscribe(_ filters: [String]) {
        session?.filters = filters.map { $0.split(separator: "/", omittingEmptySubsequences: false) }
        let found = retained.sorted { $0.key < $1.key }.filter { isHeard($0.key) }
        // The look is over before everything retained has come, or only because it has lasted too long.
        func late(_ range: ClosedRange<Int64>) -> Duration {
            world.chance(failureRate) ? world.time(microseconds: range) : .zero
        }
        send(Array(repeating: .subscribed, count: filters.count), late: late(2_000_000...20_000_000))
        send(
            found.map { .message(topic: $0.key, payload: Array($0.value.utf8), isRetained: true) },
            late: late(1_200_000...6_000_000))
    }

    /// Whether the process has subscribed to a topic. Of the wildcards, it uses only `+`.
    private func isHeard(_ topic: String) -> Bool {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        return session?.filters.contains { filter in
            filter.count == levels.count && zip(filter, levels).allSatisfy { $0 == "+" || $0 == $1 }
        } ?? false
    }

    /// - Returns: what the process hears of it.
    private func store(_ post: BrokerBoard.Post, isRetained: Bool = true) -> [MQTTConnection.Event] {
        if isRetained { retained[post.topic] = post.payload.isEmpty ? nil : post.payload }
        guard isHeard(post.topic) else { return [] }
        return [.message(topic: post.topic, payload: Array(post.payload.utf8), isRetained: false)]
    }

    /// Another program publishes a message.
    func publish(_ post: BrokerBoard.Post, isRetained: Bool = true) { send(store(post, isRetained: isRetained)) }

    /// - Returns: whether there was a connection.
    @discardableResult
    private func endConnection(leavingWill: Bool) -> Bool {
        guard var current = session, current.isConnected else { return false }
        connections += 1
        (current.number, current.isConnected, current.filters) = (connections, false, [])
        current.arrival = .distantPast
        session = current
        if leavingWill { retained[current.topics.status] = "offline" }
        return true
    }

    /// The connection breaks.
    func cut() { end(leavingWill: true) }

    private func end(leavingWill: Bool) {
        guard endConnection(leavingWill: leavingWill) else { return }
        world.note("connection lost")
        send([.ended(.connection("the connection is gone"))])
    }

    // MARK: The destination

    /// The broker's machine fails; a broker without persistence comes back.
    func forget() {
        end(leavingWill: false)
        retained = [:]
    }

    func rollBack() -> Bool {
        let before = earlier
        defer { earlier = retained }
        guard var before else { return false }
        end(leavingWill: false)
        // A stack whose store was lost since would take its own "online" for another stack's, and wait a day.
        if let status = session?.topics.status, before[status] != nil { before[status] = "offline" }
        retained = before
        return true
    }

    func takeIsBusy() -> Bool {
        defer { wasAsked = false }
        return wasAsked || session.map { !$0.isConnected || !$0.exchange.isQuiet } ?? false
    }

    let keepsWhatIsBeyond = false
    let showsToday = true

    /// The messages by topic, without whose they are, and how often a day was revised.
    func contents() -> [String: Value] {
        retained.mapValues { payload in
            guard var members = (try? Value(json: Array(payload.utf8)))?.object else { return .string(payload) }
            (members["stack"], members["revision"]) = (nil, nil)
            return .object(members)
        }
    }
}
