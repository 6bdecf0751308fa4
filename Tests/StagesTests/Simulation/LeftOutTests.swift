import HealthModel
import HealthStore
import ObserverReading
import Protocol
import Simulation
import TestSupport
import Testing

/// What a person leaves out is in no figure and at no destination, and comes back when she takes it back.
@Suite struct LeftOutTests {
    private static let steps = "HKQuantityTypeIdentifierStepCount"
    private static let water = "HKQuantityTypeIdentifierDietaryWater"
    private let stack: SimulatedStack
    private let days: [LocalDay]

    init() throws {
        stack = try SimulatedData(seed: 1).stack(seed: 5, files: [])
        stack.world.wallOffset = try SimulatedData.end() - .microseconds(stack.world.monotonic.microseconds)
        days = (0..<3).map { SimulatedData.firstDay.adding(days: $0) }
        try stack.start()
        try stack.world.run(for: .seconds(2))
    }

    /// At an hour of a day.
    private func record(_ source: String, _ day: Int, _ hour: Int, _ value: Double, type: String = steps) throws
        -> Record
    {
        let zones = try ZoneTimeline(zone: SimulatedData.zone)
        let begin = try #require(zones.ranges(of: days[day]).first?.lowerBound)
        var record = Record(start: begin + .seconds(3600 * hour), value: value)
        (record.source, record.type) = (source, type)
        if type == Self.water { record.unit = "mL" }
        return record
    }

    private var parts = 0

    private mutating func push(_ records: [Record]) throws {
        parts += 1
        var part = IngestPart(id: "request-\(parts)", number: 0, user: "me", device: "phone", way: "/v1/samples")
        part.isLast = true
        part.records = Record.batch(records)
        stack.world.send(IngestPart.topic("observer"), part.body, from: "ingest")
        try settle()
    }

    private func settle() throws {
        try stack.world.run(for: .seconds(4))
        let stuck = try stack.runUntilIdle(within: .seconds(600))
        #expect(stuck == nil)
    }

    private mutating func change(_ rule: LeftOutSource, revert: Bool = false) throws {
        parts += 1
        var request = RepairRequest(id: "request-\(parts)", action: "leaveOut")
        request.leftOut = rule
        if revert { request.revert = true }
        stack.world.send("control.observer", .object(request.body), from: "client-1-1")
        try settle()
    }

    private func steps(_ day: Int) -> Double? {
        stack.backend.entries[.init(user: "me", kind: "days", id: "\(days[day])")]?.content?["steps"].double
    }

    /// The values of the samples at the backend.
    private func samples() -> [Double] {
        stack.backend.alive("samples").values.compactMap { $0["value"].double }.sorted()
    }

    /// A day later everything has been compared, and nothing is wrong.
    private func compare() throws {
        stack.world.wallOffset += .seconds(25 * 3600)
        try stack.world.run(for: .seconds(40))
        try settle()
        let proof = stack.world.hosts.first { $0.name == "uploader" }?.heartbeat?.uploader?.proof
        #expect(proof?.wrong == 0 && proof?.beyond == nil, "\(String(describing: proof))")
    }

    private mutating func pushLife() throws {
        try push([
            try record("Watch", 0, 8, 100), try record("Ring", 0, 10, 20), try record("Ring", 1, 8, 30),
            try record("Watch", 1, 9, 200), try record("Ring", 1, 12, 300, type: Self.water),
        ])
    }

    @Test mutating func leftOutOfEverything() throws {
        try pushLife()
        #expect(steps(0) == 120 && steps(1) == 230 && samples() == [20, 30, 100, 200, 300])
        let rule = LeftOutSource(user: "me", source: "Ring")
        try change(rule)
        #expect(steps(0) == 100 && steps(1) == 200 && samples() == [100, 200])
        // What comes later is left out too.
        try push([try record("Ring", 2, 8, 40), try record("Watch", 2, 9, 50)])
        #expect(steps(2) == 50 && samples() == [50, 100, 200])
        try compare()
        try change(rule, revert: true)
        #expect(steps(0) == 120 && steps(1) == 230 && steps(2) == 90)
        #expect(samples() == [20, 30, 40, 50, 100, 200, 300])
        try compare()
    }

    @Test mutating func leftOutOfATypeFromADay() throws {
        try pushLife()
        let start = try record("Ring", 1, 0, 0).start
        let rule = LeftOutSource(user: "me", source: "Ring", type: Self.steps, from: start)
        try change(rule)
        #expect(steps(0) == 120 && steps(1) == 200 && samples() == [20, 100, 200, 300])
        // The same of all the past: the rule is changed, and one taking back undoes it.
        try change(LeftOutSource(user: "me", source: "Ring", type: Self.steps))
        #expect(steps(0) == 100 && samples() == [100, 200, 300])
        try change(rule, revert: true)
        #expect(steps(0) == 120 && steps(1) == 230 && samples() == [20, 30, 100, 200, 300])
        try compare()
    }

    @Test mutating func leftOutOfFiguresOnly() throws {
        try pushLife()
        try change(LeftOutSource(user: "me", source: "Ring", figuresOnly: true))
        #expect(steps(0) == 100 && steps(1) == 200 && samples() == [20, 30, 100, 200, 300])
        try compare()
    }

    @Test mutating func aRestartInBetweenLosesNothing() throws {
        try pushLife()
        parts += 1
        var request = RepairRequest(id: "request-\(parts)", action: "leaveOut")
        request.leftOut = LeftOutSource(user: "me", source: "Ring")
        stack.world.send("control.observer", .object(request.body), from: "client-1-1")
        for _ in 0..<3 {
            try stack.world.run(for: .milliseconds(30))
            stack.observer.crash()
            try stack.observer.start()
        }
        try settle()
        #expect(steps(0) == 100 && samples() == [100, 200])
        try compare()
    }

    /// Whoever read while a type was denied has passed its samples: a handler that begins again, a backend that lost
    /// its database. Once it is allowed, they get them.
    @Test mutating func whatWasDeniedComesWhenItIsAllowed() throws {
        try pushLife()
        switchTypes(denied: true)
        try settle()
        for host in stack.world.hosts where ["steps", "uploader"].contains(host.name) {
            try host.wipe()
            try host.start()
        }
        stack.replaceBackend()
        try settle()
        #expect(samples() == [300] && steps(1) == nil)
        switchTypes(denied: false)
        try settle()
        #expect(steps(0) == 120 && steps(1) == 230 && samples() == [20, 30, 100, 200, 300])
        try compare()
    }

    private func switchTypes(denied: Bool) {
        let setting: Value = [Self.steps: ["denied": .bool(denied)]]
        stack.world.send("control.observer", ["command": "types", "set": setting], from: "command")
    }

    /// Sources are listed as they are stored, with what is left out of them.
    @Test mutating func sourcesAreCounted() throws {
        try pushLife()
        let rule = LeftOutSource(user: "me", source: "Ring", type: Self.steps)
        try change(rule)
        let database = try #require(stack.observer.reader)
        #expect(try LeftOutTable.entries(in: database).map(\.rule) == [rule])
        let counts = try HealthStoreReader(database: database).sources(user: "me", after: .beginning, limit: .max)
            .counts
        let found = counts.map { "\($0.source) \($0.type.suffix(5)) \($0.samples)" }.sorted()
        #expect(found == ["Ring Count 2", "Ring Water 1", "Watch Count 2"])
    }
}
