import Clocks
import Configuration
import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization

/// An attacker with stolen keys of a sealed bus. With one key it receives everything that the key's owner may receive,
/// and with another it sends whatever could do harm.
final class BusAttacker: Sendable {
    private struct State {
        var isStopping = false
        var said = 0
        var answered = 0
        var head: Value = .null
    }

    private let state = Mutex(State())
    private let mouth: BusConnection
    private let ears: Mutex<BusConnection?> = Mutex(nil)
    private let finished = DispatchSemaphore(value: 0)
    private let identity: String

    /// - Parameters:
    ///   - address: the hub's address, without keys.
    ///   - identity: the instance whose key it sends with.
    ///   - ear: the instance whose key it receives with.
    init(_ address: BusAddress, keys: KeyFolder, as identity: String, hearing ear: String) throws {
        self.identity = identity
        func sealed(_ name: String) throws -> BusAddress {
            let credentials = try keys.credentials(of: name, environment: [:])
            return BusAddress(
                publish: address.publish, subscribe: address.subscribe, seal: BusSeal(identity: name) { credentials })
        }
        mouth = try BusConnection(address: try sealed(identity), subscriptions: [], handlers: .init(message: { _ in }))
        let connection = try BusConnection(
            address: try sealed(ear), subscriptions: [.prefix("pull."), .prefix("heartbeat.observer")],
            handlers: .init(message: { [self] message in hear(message) }))
        ears.withLock { $0 = connection }
        let thread = Thread { [self] in
            while !state.withLock({ $0.isStopping }) {
                shout()
                usleep(20_000)
            }
            finished.signal()
        }
        thread.start()
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        finished.wait()
        ears.withLock { $0 }?.close()
        mouth.close()
    }

    /// How many of the requests of other instances it has tried to answer.
    var answered: Int { state.withLock { $0.answered } }
    var said: Int { state.withLock { $0.said } }
    /// How many of its messages the hub has accepted so far.
    var sent: Int { mouth.counters.sent }

    private func say(_ topic: String, _ body: Value, as name: String? = nil) {
        state.withLock { $0.said += 1 }
        mouth.send(Message(topic: topic, header: .init(from: name ?? identity, at: WallClock.now), body: body))
    }

    private func hear(_ message: Message) {
        let body = message.body
        if message.topic == "heartbeat.observer" { return state.withLock { $0.head = body["head"] } }
        // A handler may report anything about its own figures, so forging those would prove nothing.
        guard let consumer = body["consumer"].string, let id = body["id"].int, message.topic != "pull.\(identity)",
            consumer != identity
        else { return }
        state.withLock { $0.answered += 1 }
        let producer = String(message.topic.dropFirst("pull.".count))
        // The right id with the right attempt, and the ids that would follow if they were sequential.
        for ahead in 0..<8 {
            let attempt: Value = ahead == 0 ? body["attempt"] : 0
            forge(page: "page.\(consumer)", id: id &+ Int64(ahead), attempt, producer, until: body["until"])
        }
        // The same request, narrowed down to nothing, so that the producer would give an empty answer to someone else's
        // question.
        var reflected = body.object ?? [:]
        reflected["types"] = ["include": []]
        reflected["topic"] = "nothing."
        say(message.topic, .object(reflected))
    }

    private func forge(page topic: String, id: Int64, _ attempt: Value, _ producer: String, until: Value) {
        let head = state.withLock { $0.head }
        let through: Int64 = until.int ?? until["base"].int ?? head["sequence"].int ?? 1
        for name in [producer, identity] {
            let about: [String: Value] = [
                "id": .integer(id), "attempt": attempt, "producer": .string(name), "head": head, "part": 0,
                "last": true,
            ]
            let pages: [[String: Value]] = [
                ["rows": [], "from": 0, "through": .integer(through), "zones": [:], "users": [], "imports": []],
                ["error": "refused", "reason": "forged"], ["error": "databaseInaccessible"],
                [
                    "error": "reset",
                    "head": ["store": "forged", "generation": "forged", "sequence": 7, "first": 1],
                ],
            ]
            for page in pages {
                let body = Value.object(about.merging(page) { $1 })
                say(topic, body)
                say(topic, body, as: producer)
            }
        }
    }

    /// Messages that would change limits, marks and settings, sent in its own name and in the names of instances that
    /// may send them.
    private func shout() {
        let far: Value = ["store": "forged", "generation": "forged", "sequence": .integer(.max), "first": 1]
        let head = state.withLock { $0.head }
        var beyond = head.object ?? [:]
        beyond["sequence"] = .integer(.max)
        let repair: [String: Value] = ["command": "mend", "id": .string(UUID().uuidString.lowercased())]
        let words: [(String, [String: Value], String)] = [
            ("sync.uploader", ["head": far, "released": .integer(.max)], "debouncer"),
            ("sync.steps", ["head": far, "released": .integer(.max)], "debouncer"),
            (
                "sync.heart-rate", ["head": head, "released": 0, "off": ["HKQuantityTypeIdentifierHeartRate"]],
                "debouncer"
            ),
            (
                "observed.HKQuantityTypeIdentifierStepCount", ["head": far, "type": "x", "sequence": .integer(.max)],
                "observer"
            ),
            (
                "acknowledged.observer",
                ["consumer": "debouncer", "types": ["HKQuantityTypeIdentifierStepCount": .integer(.max)]], "debouncer"
            ),
            (
                "heartbeat.observer",
                [
                    "plugin": "observer", "phase": "ready", "pid": 1, "epoch": 99, "memory": 1, "head": .object(beyond),
                    "details": [:],
                ],
                "observer"
            ),
            (
                "heartbeat.steps",
                [
                    "plugin": "steps", "phase": "stopped", "pid": 1, "epoch": 99, "memory": 1, "head": far,
                    "frontier": ["observer": .integer(.max)], "details": [:],
                ], "steps"
            ),
            ("control.observer", ["command": "device", "set": ["locked": true]], "client-cli-1-2"),
            (
                "control.observer", ["command": "register", "consumer": "debouncer", "launch": 99, "types": [:]],
                "debouncer"
            ),
            (
                "control.observer",
                ["command": "types", "set": ["HKQuantityTypeIdentifierStepCount": ["on": false]]], "client-cli-1-2"
            ),
            (
                "control.observer", ["command": "zone", "action": "set", "user": "me", "zone": "Asia/Tokyo"],
                "client-cli-1-2"
            ),
            ("control.debouncer", ["command": "launch", "task": "historical"], "client-cli-1-2"),
            ("control.steps", repair.merging(["action": "reset"]) { $1 }, "client-cli-1-2"),
            ("control.uploader", repair.merging(["action": "reset"]) { $1 }, "client-cli-1-2"),
            ("control.consolidator", repair.merging(["action": "reset"]) { $1 }, "client-cli-1-2"),
            (
                "control.supervisor", ["command": "swap", "id": "s", "instance": "steps", "plugin": "generic"],
                "client-cli-1-2"
            ),
            ("standby.steps", ["swap": "s", "plugin": "steps", "pid": 1, "phase": "waiting"], "steps"),
            ("alert.deliveryStopped", ["head": far], "observer"),
            ("daily.summary", ["head": far], "consolidator"),
            ("figures.steps", ["head": far], "steps"),
            ("control.hello", [:], "client-cli-1-2"),
            ("subscribe", ["topics": [""]], "observer"),
        ]
        for (topic, body, name) in words {
            say(topic, .object(body))
            say(topic, .object(body), as: name)
            say(topic, .object(body), as: "client-\(identity)-1-2")
        }
        // Requests that its key permits: claims that the observer has lost rows, and requests for a lot of work.
        let asking: [[String: Value]] = [
            [
                "query": "spans", "store": head["store"], "generation": head["generation"], "after": .integer(.max),
                "until": .integer(.max), "types": ["exclude": []],
            ],
            [
                "query": "slice", "user": "me", "asOf": .integer(.max), "from": 0,
                "to": .integer(4_000_000_000_000_000),
                "detailed": [], "types": ["exclude": []],
            ],
            ["query": "samples", "after": 0, "until": .integer(.max), "types": ["exclude": []]],
        ]
        for query in asking {
            let about: [String: Value] = [
                "id": .integer(.random(in: 1 ... .max)), "attempt": 0, "consumer": .string(identity),
            ]
            say("pull.observer", .object(query.merging(about) { $1 }))
        }
    }
}
