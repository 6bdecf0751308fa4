import Changelog
import HealthModel
import MessageBus
import PluginKit
import SQLite
import Wire

/// Coalesces the observer's hints per type and releases the changes to their consumers by `sync.<consumer>`.
///
/// It moves no data: it says how far each consumer may pull. Every release is repeated each second, so a lost one only delays.
public final class DebouncerStage: Stage {
    public struct Consumer: Sendable, Equatable {
        public var name: String
        /// nil: all types.
        public var types: Set<String>?
        /// Types it doesn't take, for a consumer of all others.
        public var except: Set<String>

        public init(name: String, types: Set<String>?, except: Set<String> = []) {
            self.name = name
            self.types = types
            self.except = except
        }

        func takes(_ type: String) -> Bool { types?.contains(type) ?? !except.contains(type) }
    }

    private let observer: String
    private let consumers: [Consumer]
    private var window: ReleaseWindow
    private var head: StoreHead?
    /// What each consumer was last told, and when.
    private var told: [String: AnchorVector] = [:]
    private var lastRepeat: Instant = 0
    private var lastSpread: Instant = 0
    /// Types that aren't observed, and up to where each was fired: nothing of them is released beyond.
    private var off: [String: Int64] = [:]

    /// A head that moved without anything for a consumer reaches it within this time: it only advances frontiers.
    private static let spread: Instant = 250_000
    private static let repetition = Instant.second

    public init(observer: String, consumers: [Consumer], policy: ReleaseWindow.Policy) {
        self.observer = observer
        self.consumers = consumers
        window = ReleaseWindow(policy: policy, released: .zero)
    }

    public var subscriptions: [Subscription] { [.prefix("observed."), .exact(Heartbeat.topic(observer))] }

    public func open(_ turn: Turn) throws {
        let database = try turn.write().database
        try database.execute(
            "CREATE TABLE IF NOT EXISTS released(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
        let read = try database.prepare("SELECT value FROM released WHERE key = 'released'")
        guard let text = try read.firstRow({ $0.bytes(0) }) else { return }
        let saved = try Value(json: text)
        guard let vector = AnchorVector(wireValue: saved["released"]) else {
            throw StageError.unreadableCursor("released")
        }
        window = ReleaseWindow(policy: window.policy, released: vector)
        head = StoreHead(wireValue: saved["head"])
    }

    public func receive(_ message: Message, _ turn: Turn) throws {
        if let beat = Heartbeat(message) {
            guard let new = beat.head else { return }
            try follow(new, turn)
            let fired = AnchorVector(wireValue: beat.details["fired"] ?? .null) ?? AnchorVector(base: new.sequence)
            off = Dictionary(
                (beat.details["off"]?.array ?? []).compactMap(\.string).map { ($0, fired[$0]) },
                uniquingKeysWith: { first, _ in first })
            let atOnce = window.heard(head: new.sequence, heads: beat.heads, at: turn.monotonic)
            if !atOnce.isEmpty { tell(of: atOnce, turn) }
        } else if let new = StoreHead(wireValue: message.body["head"]), let type = message.body["type"].string,
            let sequence = message.body["sequence"].int
        {
            try follow(new, turn)
            turn.log.debug("observer.fired", ("type", type))
            if window.changed(type, to: sequence, at: turn.monotonic) { tell(of: [type], turn) }
        }
    }

    private func follow(_ new: StoreHead, _ turn: Turn) throws {
        let isReset = head.map { $0.store != new.store || $0.generation != new.generation } ?? false
        if head?.generation != new.generation || new.sequence > head?.sequence ?? 0 { head = new }
        guard isReset else { return }
        turn.log.notice("anchor.reset", ("upstream", observer), ("generation", new.generation))
        window.reset()
        told = [:]
        try save(turn)
    }

    public func tick(_ turn: Turn) throws -> Instant? {
        let released = window.close(at: turn.monotonic)
        if !released.isEmpty {
            turn.log.debug("debounce.finished", ("types", "\(released.count)"))
            try save(turn)
            tell(of: released, turn)
        }
        if turn.monotonic - lastRepeat >= Self.repetition {
            lastRepeat = turn.monotonic
            lastSpread = turn.monotonic
            for consumer in consumers { tell(consumer, turn) }
        } else if turn.monotonic - lastSpread >= Self.spread {
            lastSpread = turn.monotonic
            for consumer in consumers where told[consumer.name] != vector(for: consumer) { tell(consumer, turn) }
        }
        let spread = consumers.contains { told[$0.name] != vector(for: $0) } ? lastSpread + Self.spread : .max
        return min(window.nextDeadline ?? .max, lastRepeat + Self.repetition, spread)
    }

    private func tell(of types: [String], _ turn: Turn) {
        for consumer in consumers where types.contains(where: consumer.takes) { tell(consumer, turn) }
    }

    private func tell(_ consumer: Consumer, _ turn: Turn) {
        guard let head else { return }
        let released = vector(for: consumer)
        told[consumer.name] = released
        var body: [String: Value] = ["head": head.wireValue, "released": released.wireValue]
        let off = off.keys.filter(consumer.takes).sorted()
        if !off.isEmpty { body["off"] = .array(off.map { .string($0) }) }
        turn.publish("sync.\(consumer.name)", .object(body))
    }

    private func vector(for consumer: Consumer) -> AnchorVector {
        var exceptions = window.released.exceptions.filter { consumer.takes($0.key) }
        for (type, fired) in off where consumer.takes(type) { exceptions[type] = min(window.released[type], fired) }
        return AnchorVector(base: window.released.base, exceptions: exceptions)
    }

    private func save(_ turn: Turn) throws {
        guard let head else { return }
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO released VALUES ('released', ?)")
        write.bind(1, Value.object(["head": head.wireValue, "released": window.released.wireValue]).json())
        try write.run()
    }

    public func report(_ turn: Turn) throws -> StageReport {
        StageReport(
            frontier: [observer: window.released.minimum],
            details: ["pending": .integer(Int64(window.pendingTypes.count))])
    }
}

extension DebouncerStage {
    /// The debouncer of a stack: every handler and uploader of it is a consumer.
    public convenience init(stack: StackConfiguration, configuration: Value) {
        let named = stack.namedTypes
        var consumers = stack.handlers.map { handler in
            handler.manifest.types.contains("*")
                ? Consumer(name: handler.name, types: nil, except: named)
                : Consumer(name: handler.name, types: Set(handler.manifest.types))
        }
        consumers += stack.instances.filter { $0.manifest.kind == .uploader }.map {
            Consumer(name: $0.name, types: nil)
        }
        func microseconds(_ value: Value) -> Instant { Instant((value.double ?? 0) * 1e6) }
        self.init(
            observer: stack.only(.observer)?.name ?? "observer", consumers: consumers,
            policy: ReleaseWindow.Policy(
                window: microseconds(configuration["windowSeconds"]),
                maximumWait: microseconds(configuration["maximumWaitSeconds"]),
                byType: (configuration["windows"].object ?? [:]).mapValues(microseconds)))
    }
}
