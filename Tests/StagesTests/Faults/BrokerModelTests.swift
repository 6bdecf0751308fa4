import Configuration
import HealthModel
import HomeAssistantStage
import MQTT
import MessageBus
import Protocol
import Simulation
import StageKit
import Synchronization
import TestSupport
import Testing

/// The simulation's broker does as Mosquitto does, and its connection as a `BrokerRunner`.
@Suite(.inTurn, .enabled(if: MosquittoBroker.isThere, Comment(rawValue: MosquittoBroker.hint)))
struct BrokerModelTests {
    fileprivate enum Step {
        /// A process that may be another stack's, or have another store, takes the place of one that dies.
        case begin(owner: String)
        case publish([BrokerBoard.Post])
        /// Another program publishes.
        case interfere(BrokerBoard.Post)
        case cut
        /// The broker loses everything.
        case restart
    }

    fileprivate static let topics = MQTTTopics(base: "healthbus", discoveryPrefix: "homeassistant")
    fileprivate static let online = BrokerBoard.Post(topic: topics.status, payload: "online")

    /// More than a broker sends before the first is acknowledged; the process hears all but the last of them.
    private static let places =
        [topics.status, topics.birth, "healthbus/me/yesterday", "healthbus/kitchen/temperature"]
        + (0..<30).map { "healthbus/p\($0)/today" } + (0..<6).map { "homeassistant/sensor/healthbus/p\($0)/config" }
        + ["homeassistant/sensor/other/p/config"]

    private static func post(to topic: String, using random: inout SimulatedRandom) -> BrokerBoard.Post {
        let payloads = ["", "online", "offline", #"{"number": \#(Int.random(in: 0..<1000, using: &random))}"#]
        return .init(topic: topic, payload: payloads[Int.random(in: 0..<payloads.count, using: &random)])
    }

    private static func steps(_ seed: UInt64) -> [Step] {
        var random = SimulatedRandom(seed: seed)
        return [.begin(owner: "first")]
            + (0..<12).map { _ in
                switch Int.random(in: 0..<10, using: &random) {
                case 0...3:
                    let count = Int.random(in: 1...places.count, using: &random)
                    return .publish(
                        places.shuffled(using: &random).prefix(count).map { post(to: $0, using: &random) })
                case 4...6:
                    let place = places[Int.random(in: 0..<places.count, using: &random)]
                    return .interfere(post(to: place, using: &random))
                case 7: return .cut
                case 8: return .restart
                default: return .begin(owner: Bool.random(using: &random) ? "first" : "second")
                }
            }
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>) func theModelDoesAsTheBrokerDoes(_ seed: UInt64) throws {
        let (real, model) = (try RealBroker(), try ModelBroker(seed: seed))
        defer { real.end() }
        for (number, step) in Self.steps(seed).enumerated() {
            try model.perform(step)
            try real.perform(step, like: model.heard)
            let (kept, expected) = (try real.observer().found, model.retained)
            #expect(kept == expected, "retained after step \(number) of \(seed): \(step)")
            // The broker passes this on after everything before.
            let last = BrokerBoard.Post(topic: "healthbus/last/today", payload: "step \(number)")
            try model.perform(.interfere(last))
            try real.observer().publish(last)
            try #require(eventually { real.heard.published[last.topic]?.last == last.payload }, "\(step)")
            #expect(real.heard == model.heard, "heard in step \(number) of \(seed): \(step)")
            real.clear()
            model.clear()
        }
    }
}

/// What a process has heard in one step.
private struct HeardByProcess: Equatable {
    var (connected, looked, born, done) = (0, 0, 0, 0)
    /// How often it tried again depends on when the broker is there again.
    var wasLost = false
    /// What the broker had retained: it comes in no particular order.
    var found: [String: String] = [:]
    /// What was published on each topic, in order.
    var published: [String: [String]] = [:]

    mutating func take(_ result: EffectResult) {
        if result.value is Published { done += 1 }
        switch result.value as? BrokerNews {
        case .connected: connected += 1
        case .looked: looked += 1
        case .born: born += 1
        case .lost: wasLost = true
        case .heard(let messages):
            for message in messages {
                if message.isRetained {
                    found[message.topic] = message.payload
                } else {
                    published[message.topic, default: []].append(message.payload)
                }
            }
        case nil: break
        }
    }

    /// Whether nothing is missing that the other has.
    func isAsFar(as other: Self) -> Bool {
        connected >= other.connected && looked >= other.looked && done >= other.done && (wasLost || !other.wasLost)
    }
}

// MARK: The model

/// A stage that only listens.
private final class ListeningStage: Stage {
    let subscriptions: [Subscription] = []
    var heard = HeardByProcess()

    func open(_ turn: Turn) {}
    func receive(_ message: Message, _ turn: Turn) {}
    func receive(_ result: EffectResult, _ turn: Turn) { heard.take(result) }
    func tick(_ turn: Turn) -> MonotonicTime? { nil }
    func report(_ turn: Turn) -> StageReport { StageReport() }
}

private final class ModelBroker {
    private let world: SimulatedWorld
    private let model: BrokerModel
    private let host: SimulatedHost
    private var stage = ListeningStage()
    private var effects: Int64 = 0

    init(seed: UInt64) throws {
        world = try SimulatedWorld(seed: seed, wall: .epoch)
        model = BrokerModel(in: world)
        host = SimulatedHost("home-assistant", plugin: "home-assistant", in: world) { throw Problem.noStage }
        world.hosts = [host]
    }

    private enum Problem: Error { case noStage }

    var heard: HeardByProcess { stage.heard }
    var retained: [String: String] { model.retained }

    func clear() { stage.heard = HeardByProcess() }

    private func ask(_ request: any Sendable) {
        effects += 1
        model.perform(Effect(id: effects, request: request), of: host)
    }

    func perform(_ step: BrokerModelTests.Step) throws {
        switch step {
        case .begin(let owner):
            if host.isRunning { model.publish(BrokerModelTests.online) }
            host.crash()
            let stage = ListeningStage()
            self.stage = stage
            host.makeStage = { stage }
            try host.start()
            ask(KeepConnected(topics: BrokerModelTests.topics, owner: owner))
        case .publish(let posts): ask(Publish(posts: posts))
        case .interfere(let post): model.publish(post)
        case .cut: model.cut()
        case .restart: model.forget()
        }
        try world.run(for: .seconds(30))
        _ = model.takeIsBusy()
        #expect(!model.takeIsBusy(), "nothing is left to happen")
    }
}

// MARK: The real one

private final class RealBroker {
    private let broker: MosquittoBroker
    private let folder: TemporaryFolder
    /// The process's way to the broker, which can be cut.
    private var proxy: CuttingProxy?
    private var runner: BrokerRunner?
    private var ear = Ear()
    private var effects: Int64 = 0

    /// One process's, whose answers come on its own thread.
    private final class Ear: Sendable {
        let heard = Mutex(HeardByProcess())
    }

    init() throws {
        folder = try TemporaryFolder()
        broker = try MosquittoBroker(in: folder)
    }

    var heard: HeardByProcess { ear.heard.withLock { $0 } }

    func clear() { ear.heard.withLock { $0 = HeardByProcess() } }

    func end() {
        runner?.stop()
        proxy?.stop()
        broker.kill()
    }

    func observer() throws -> Observer { try Observer(broker.port) }

    private func ask(_ request: any Sendable) {
        effects += 1
        let ear = ear
        runner?.perform(Effect(id: effects, request: request)) { result in
            ear.heard.withLock { $0.take(result) }
            return true
        }
    }

    /// - Parameter expected: what the process hears at least.
    func perform(_ step: BrokerModelTests.Step, like expected: HeardByProcess) throws {
        switch step {
        case .begin(let owner): try begin(owner)
        case .publish(let posts): ask(Publish(posts: posts))
        case .interfere(let post): try observer().publish(post)
        case .cut: proxy?.cut()
        case .restart:
            broker.kill()
            try broker.restart()
        }
        try #require(eventually { heard.isAsFar(as: expected) }, "\(step): \(heard), not \(expected)")
    }

    private func begin(_ owner: String) throws {
        if let proxy, let runner {
            let observer = try observer()
            try observer.publish(BrokerModelTests.online)
            proxy.stop()
            // The last will is there before the next process connects, as on one machine.
            try observer.wait {
                $0 == .message(topic: "healthbus/status", payload: Array("offline".utf8), isRetained: false)
            }
            runner.stop()
        }
        let proxy = try CuttingProxy(to: broker.port)
        let file = try folder.file(
            "stack.json",
            """
            { "instances": { "home-assistant": { "plugin": "home-assistant",
                "configuration": { "broker": "mqtt://127.0.0.1:\(proxy.port)" } } } }
            """)
        let stack = try StackConfiguration(
            path: file, catalog: PluginCatalog(folder: Checkout.root + "/plugins", programs: ""))
        runner = try BrokerRunner(BrokerLogin(#require(stack.instance("home-assistant")), in: stack))
        (self.proxy, ear) = (proxy, Ear())
        ask(KeepConnected(topics: BrokerModelTests.topics, owner: owner))
    }
}

/// Another program at the broker, which hears everything.
private final class Observer {
    private let connection: MQTTConnection
    /// What the broker had retained when it connected.
    private(set) var found: [String: String] = [:]
    private static let will = (topic: "elsewhere/status", payload: "gone")

    private struct Late: Error {}

    init(_ port: Int) throws {
        connection = try MQTTConnection(
            MQTTConnection.Options(
                address: MQTTAddress("mqtt://127.0.0.1:\(port)"), client: "observer", user: nil, password: nil,
                authorityFile: nil, will: Self.will))
        try wait { $0 == .connected }
        try connection.subscribe("#")
        try wait { $0 == .subscribed }
        // What is retained comes before what is published afterwards.
        try publish(.init(topic: "elsewhere/mark", payload: ""))
    }

    deinit { connection.disconnect() }

    /// Publishes a message, and waits until it comes back.
    func publish(_ post: BrokerBoard.Post) throws {
        _ = try connection.publish(post.topic, post.payload)
        try wait { $0 == .message(topic: post.topic, payload: Array(post.payload.utf8), isRetained: false) }
    }

    func wait(for isExpected: (MQTTConnection.Event) -> Bool) throws {
        let deadline = Patience.deadline
        while ContinuousClock.now < deadline {
            var isThere = false
            for event in connection.wait(bell: -1, milliseconds: 100) {
                if case .ended(let why) = event { throw why }
                if case .message(let topic, let payload, true) = event, topic != Self.will.topic {
                    found[topic] = String(decoding: payload, as: UTF8.self)
                }
                isThere = isThere || isExpected(event)
            }
            if isThere { return }
        }
        throw Late()
    }
}
