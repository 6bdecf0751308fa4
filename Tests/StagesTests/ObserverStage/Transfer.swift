import Changelog
import Client
import Foundation
import Glibc
import HealthModel
import MessageBus
import ObserverReading
import ObserverStage
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing

/// An observer to which files are sent: the stage, the inbox on disk and the sending commands are real; the test
/// disrupts the network between them.
final class Transfer {
    struct Faults {
        var loss = 0.0
        var repeats = 0.0
        /// An answer may be overtaken by up to this many others.
        var reach = 0
        /// For a value of n, corrupts one byte in every nth part; 0 means never.
        var spoilEvery = 0
    }

    let rig: StageRig<ObserverStage>
    let inbox: Inbox
    var faults = Faults()
    /// The functions that answer requests, by the command's name on the bus.
    var commands: [String: (Value) -> Result<[[String: Value]], PullRefusal>] = [:]
    private(set) var partsSent = 0
    /// The processes that were asked, in order.
    private(set) var asked: [String] = []
    private var client = PullClient(consumer: "observer")
    private var pulls: [Int64: Pull] = [:]
    private var flying: [(due: Int, isRequest: Bool, body: Value, sender: String)] = []
    private var random: SeededRandom
    private var step = 0

    init(seed: UInt64 = 1) throws {
        random = SeededRandom(seed: seed)
        rig = try StageRig { ObserverStage(instance: "observer", zone: "Europe/Berlin", defaultUser: "me") }
        inbox = try Inbox(folder: rig.folder.path + "/inbox")
    }

    func path(_ name: String) -> String { rig.folder.path + "/inbox/" + name }
    func size(_ name: String) -> Int? {
        var status = stat()
        return stat(path(name), &status) == 0 ? Int(status.st_size) : nil
    }

    func offer(_ id: String, _ file: OfferedFile?, as sender: String, _ more: [String: Value] = [:]) throws {
        var command: [String: Value] = [
            "command": "import", "id": .string(id), "path": .string(file?.path ?? "standard input"),
            "sender": .string(sender),
        ]
        if let identity = file?.identity { command["file"] = Value(identity) }
        try rig.hear("control.observer", .object(command.merging(more) { $1 }))
    }

    func state(_ id: String) throws -> Value {
        var rows: [Value] = []
        try ObserverSource(database: rig.store.database)
            .answer(["query": "imports", "import": .string(id)], head: rig.store.head) { members, _ in
                rows += members["imports"]?.array ?? []
            }
        return rows.first ?? .null
    }

    /// The observer's process ends and starts again; anything on its way to it is lost.
    func restart() throws {
        client = PullClient(consumer: "observer")
        pulls = [:]
        flying = []
        try rig.restart()
        try carry()
    }

    private func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    private func send(_ body: Value, isRequest: Bool, sender: String) {
        for _ in 0..<(chance(faults.repeats) ? 2 : 1) where !chance(faults.loss) {
            let due = step + 1 + Int.random(in: 0...faults.reach, using: &random)
            flying.append((due, isRequest, body, sender))
        }
    }

    /// Does what the stage asked of its host: effects on disk, pulls over the network.
    private func carry() throws {
        while let effect = rig.effects.first(where: { Self.isOurs($0) }) {
            let done = DispatchSemaphore(value: 0)
            nonisolated(unsafe) var result: EffectResult?
            inbox.perform(effect) {
                result = $0
                done.signal()
                return true
            }
            if case .discard? = effect.request as? ObserverEffect {
                rig.effects.removeAll { $0.id == effect.id }
                continue
            }
            try #require(done.wait(timeout: Patience.timeout) == .success)
            if let result { try rig.reply(effect, result.value) }
        }
        for pull in rig.pulls {
            pulls[pull.id] = pull
            asked.append(pull.producer)
            send(client.begin(pull, at: rig.monotonic).body, isRequest: true, sender: pull.producer)
        }
        rig.pulls = []
    }

    private static func isOurs(_ effect: Effect) -> Bool {
        if case .read? = effect.request as? ObserverEffect { return false }
        return effect.request is ObserverEffect
    }

    /// Lets a moment pass: everything that is due arrives.
    func pass(_ time: Duration = .milliseconds(50)) throws {
        step += 1
        let due = flying.filter { $0.due <= step }
        flying.removeAll { $0.due <= step }
        for message in due {
            if message.isRequest {
                answer(message.body, from: message.sender)
            } else {
                try take(message.body, from: message.sender)
            }
        }
        rig.monotonic += time
        rig.now += time
        for again in client.overdue(at: rig.monotonic) {
            send(again.body, isRequest: true, sender: String(again.topic.dropFirst("pull.".count)))
        }
        try rig.turn()
        try carry()
    }

    private func answer(_ request: Value, from sender: String) {
        guard let command = commands[sender] else { return }
        let about: [String: Value] = ["id": request["id"], "attempt": request["attempt"], "producer": .string(sender)]
        switch command(request) {
        case .failure(let refusal):
            let error: [String: Value] = ["error": "refused", "reason": .string(refusal.reason)]
            send(.object(about.merging(error) { $1 }), isRequest: false, sender: sender)
        case .success(let parts):
            for (number, part) in parts.enumerated() {
                var body = part.merging(about) { $1 }
                body["part"] = .integer(Int64(number))
                body["last"] = .bool(number == parts.count - 1)
                partsSent += 1
                if faults.spoilEvery > 0, partsSent % faults.spoilEvery == 0, var bytes = part["bytes"]?.bytes {
                    bytes[0] ^= 1
                    body["bytes"] = .bytes(bytes)
                }
                send(.object(body), isRequest: false, sender: sender)
            }
        }
    }

    private func take(_ part: Value, from sender: String) throws {
        guard let answer = client.receive(part, from: sender, at: rig.monotonic),
            pulls.removeValue(forKey: answer.pull.id) != nil
        else { return }
        try rig.answer(answer.pull, answer.result)
        try carry()
    }
}

extension OfferedFile {
    /// Answers a request as it arrives over the bus, with members in their wire form.
    func answer(_ request: Value) -> Result<[[String: Value]], PullRefusal> {
        answer(from: request["offset"].int ?? -1).map { parts in parts.map { Value($0).object ?? [:] } }
    }
}
