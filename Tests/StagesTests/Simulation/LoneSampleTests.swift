import HealthModel
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing

/// What one heart rate that comes alone makes a stack do until it is delivered and everything has been repeated: messages
/// sent, turns and commits by process. Most of what runs all day is this.
@Suite struct LoneSampleTests {
    private struct Work: Equatable, CustomStringConvertible {
        var messages = 0
        var turns = 0
        var commits = 0
        var description: String { "\(messages) messages, \(turns) turns, \(commits) commits" }
    }

    /// At most; every other handler does what `steps` does.
    private static let most: [String: Work] = [
        "observer": Work(messages: 17, turns: 5, commits: 1), "debouncer": Work(messages: 30, turns: 27, commits: 2),
        "heart-rate": Work(messages: 11, turns: 7, commits: 2), "steps": Work(messages: 7, turns: 6, commits: 0),
        "consolidator": Work(messages: 10, turns: 18, commits: 2),
        "uploader": Work(messages: 12, turns: 19, commits: 3),
    ]

    @Test func aLoneSampleCostsNoMoreThanThis() throws {
        let data = try SimulatedData(seed: 1)
        let stack = try data.stack(seed: 4)
        let world = stack.world
        try stack.start()
        for file in stack.files { stack.submit(file, after: .zero) }
        #expect(try stack.runUntilIdle(within: .seconds(300)) == nil)
        // After all repetitions only those at rest are left; one of those is among what is counted.
        try world.run(for: .seconds(40))
        var sent: [String: Int] = [:]
        world.eavesdropper = { sent[$0.header.from, default: 0] += 1 }
        let before = Dictionary(uniqueKeysWithValues: world.hosts.map { ($0.name, $0.work) })
        var record = Record(
            type: "HKQuantityTypeIdentifierHeartRate", start: try SimulatedData.end(), length: .zero, value: 61,
            unit: "count/min")
        record.uuid = SampleID(high: 1, low: 1)
        for part in try PhoneRequest.samples([record]).parts("lone") {
            world.send(IngestPart.topic("observer"), part.body, from: "ingest")
        }
        try world.run(for: .seconds(15))
        var found: [String: Work] = [:]
        for host in world.hosts {
            let then = before[host.name] ?? (0, 0)
            found[host.name] = Work(
                messages: sent[host.name] ?? 0, turns: host.work.turns - then.turns,
                commits: host.work.commits - then.commits)
        }
        for (name, work) in found.sorted(by: { $0.key < $1.key }) {
            let most = try #require(Self.most[name] ?? Self.most["steps"])
            let isWithin = work.messages <= most.messages && work.turns <= most.turns && work.commits <= most.commits
            #expect(isWithin, "\(name): \(work); at most \(most)")
        }
        // One that the sample doesn't concern has asked for it once, all the same.
        #expect(found["steps"].map { $0.messages > 0 && $0.commits == 0 } == true)
    }
}
