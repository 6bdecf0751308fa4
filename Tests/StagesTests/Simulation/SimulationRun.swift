import Foundation
import HealthModel
import Protocol
import Simulation

/// One seed's run: chaos, then quiet until all is done, then the comparison with a run without faults.
struct SimulationRun {
    private(set) var problems: [String] = []
    private(set) var counts: [String: Int] = [:]

    private static let minute = Duration.seconds(60)

    /// - Parameter isAttacked: whether an attacker who has the sleep handler's key, and receives everything, answers
    ///   questions meant for others.
    init(seed: UInt64, trace: Bool, isAttacked: Bool = false) throws {
        let data = try SimulatedData(seed: seed)
        let calm = try data.stack(seed: seed)
        try calm.start()
        for file in calm.files { calm.submit(file, after: .zero) }
        let travel = Travel(data, in: calm)
        travel.begin(after: .zero)
        calm.world.wallOffset = try SimulatedData.end() - .microseconds(calm.world.monotonic.microseconds)
        if let stuck = try calm.runUntilIdle(within: .seconds(300), isReady: travel.hasEnded) {
            problems = ["without faults: \(stuck)"]
            return
        }
        let stack = try data.stack(seed: seed, trace: trace)
        let wild = Travel(data, in: stack)
        if isAttacked { Self.attack(stack.world) }
        try Self.chaos(stack, data, wild, seed: seed)
        if let stuck = try stack.runUntilIdle(within: .seconds(300), isReady: wild.hasEnded) {
            problems.append("stuck: \(stuck)")
        }
        counts = stack.world.counts
        problems += try Self.compare(stack, with: calm, data)
    }

    private static func attack(_ world: SimulatedWorld) {
        world.eavesdropper = { [unowned world] message in
            let (body, producer) = (message.body, String(message.topic.dropFirst("pull.".count)))
            guard message.topic.hasPrefix("pull."), producer != "sleep", let consumer = body["consumer"].string else {
                return
            }
            let head: Value = ["store": "forged", "generation": "forged", "sequence": 7, "first": 1]
            let forged: [[String: Value]] = [
                ["error": "reset", "head": head], ["error": "refused", "reason": "forged"],
                ["error": "databaseInaccessible"],
                [
                    "part": 0, "last": true, "rows": [], "from": 0, "through": .integer(.max), "head": head,
                    "zones": [:], "users": [],
                ],
            ]
            for page in forged {
                for name in [producer, "sleep"] {
                    let about: [String: Value] = [
                        "id": body["id"], "attempt": body["attempt"], "producer": .string(name),
                    ]
                    world.send("page.\(consumer)", .object(about.merging(page) { $1 }), from: "sleep")
                }
            }
            // These are sent in others' names: on an open bus they are received too.
            world.send("sync.\(consumer)", ["head": head, "released": .integer(.max)], from: "sleep")
            world.send("heartbeat.observer", ["plugin": "x", "phase": "ready", "pid": 1, "head": head], from: "sleep")
            world.send("control.\(producer)", ["command": "mend", "id": "forged", "action": "reset"], from: "sleep")
        }
    }

    private static func chaos(_ stack: SimulatedStack, _ data: SimulatedData, _ travel: Travel, seed: UInt64) throws {
        let world = stack.world
        // For each seed, each kind of fault has its own strength, or is absent.
        func strength(_ most: Double) -> Double { most * Double(world.pick(0...3)) / 3 }
        world.faults.drop = strength(0.3)
        world.faults.duplicate = strength(0.2)
        world.faults.delay = strength(0.3)
        world.faults.crash = strength(0.02)
        world.faults.slow = strength(0.3)
        world.faults.upload = strength(0.6)
        try stack.start()
        let length = Int64(world.pick(10...40)) * Instant.microsecondsPerSecond
        for file in stack.files { stack.submit(file, after: world.time(microseconds: 0...length)) }
        var isOver = false
        func sometimes(_ times: Int, _ action: @escaping () -> Void) {
            for _ in 0..<times {
                world.schedule(.action { if !isOver { action() } }, after: world.time(microseconds: 0...length))
            }
        }
        let losesFiles = seed.isMultiple(of: 4)
        sometimes(world.pick(0...4)) {
            let jump = minute * world.pick(1...36 * 60)
            world.note("clock jumped")
            world.wallOffset += world.chance(0.5) ? jump : .zero - jump
        }
        sometimes(world.pick(0...2)) { world.suspend(.seconds(60 * world.pick(1...30))) }
        let zones = ["America/New_York", "Asia/Tokyo", SimulatedData.zone, "Pacific/Honolulu", nil]
        sometimes(world.pick(0...6)) {
            world.note("zone changed")
            travel.say(zones[world.pick(0...4)], from: data.moments[world.pick(0...3)])
        }
        if losesFiles {
            // The sleep handler's file isn't among them: if an event of the lost file is missing from the new one, it
            // is never deleted at the backend.
            let hosts = world.hosts.filter { $0.name != "sleep" }
            sometimes(2) { world.restart(hosts[world.pick(0...hosts.count - 1)], wiping: true) }
        }
        if seed.isMultiple(of: 3) { sometimes(1) { stack.replaceBackend() } }
        try world.run(for: .microseconds(length))
        isOver = true
        // From here on nothing goes wrong, and the clock is right.
        world.faults = .init()
        world.wallOffset = max(world.wallOffset, try SimulatedData.end() - .microseconds(world.monotonic.microseconds))
        // A late wipe happens within this time.
        try world.run(for: .seconds(4))
        for file in stack.files { stack.submit(file, after: .zero) }
        travel.begin(after: .zero)
    }

    private static func compare(
        _ stack: SimulatedStack, with calm: SimulatedStack, _ data: SimulatedData
    ) throws -> [String] {
        var problems: [String] = []
        for kind in ["samples", "nights", "days"] {
            let expected = calm.backend.alive(kind)
            let found = stack.backend.alive(kind)
            for (key, content) in expected {
                guard let other = found[key] else {
                    problems.append("\(key) is missing at the backend")
                    continue
                }
                if comparable(other) != comparable(content) {
                    problems.append("\(key) is \(comparable(other).json()), not \(comparable(content).json())")
                }
            }
            for key in found.keys where expected[key] == nil { problems.append("\(key) was invented") }
        }
        let days = stack.backend.alive("days")
        for (key, day) in days where day["final"].bool != true || day["missing"].array?.isEmpty != true {
            problems.append("\(key) isn't final: \(day["missing"].json())")
        }
        let steps = Dictionary(
            uniqueKeysWithValues: days.compactMap { key, day in
                day["steps"].double.map { ("\(key.user)/\(key.id)", $0) }
            })
        if try steps != data.expectedSteps() { problems.append("the steps aren't the sum of the samples") }
        let samples = data.records.values.reduce(0) { $0 + Set($1).count }
        if stack.backend.alive("samples").count != samples {
            problems.append("\(stack.backend.alive("samples").count) samples at the backend, \(samples) made")
        }
        if stack.backend.acceptedTwice > 0 {
            problems.append("\(stack.backend.acceptedTwice) elements were accepted as new twice")
        }
        return problems
    }

    /// How often a day was revised depends on when its data arrived.
    private static func comparable(_ content: Value) -> Value {
        var members = content.object ?? [:]
        members["revision"] = nil
        return .object(members)
    }
}
