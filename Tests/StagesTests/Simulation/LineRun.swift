import Changelog
import DeliveryKit
import Foundation
import HealthModel
import Protocol
import SQLite
import Simulation
import TestSupport

/// One seed's run of what breaks lines of versions: backups and restores, lost files, clocks that jump, deletions, and a
/// second stack for the same person. In the end the backend must equal what the stack has, or the stack must say that it
/// doesn't; and no deletion comes back.
final class LineRun {
    private(set) var problems: [String] = []
    private(set) var done: [String: Int] = [:]

    private var random: SeededRandom
    private let data: SimulatedData
    private let stack: SimulatedStack
    private var other: SimulatedStack?
    private let folder: TemporaryFolder
    /// What the phone has, what it has sent, and what it has deleted.
    private var waiting: [Record]
    private var sent: [Record] = []
    private var deleted: [Record] = []
    private var hasBackup = false
    private var parts = 0

    enum Step: String, CaseIterable {
        case push, delete, backup, restore, lose, loseAll, loseSlowly, clock, rest, otherStack
    }

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed &* 977 &+ 3)
        data = try SimulatedData(seed: 1 + 2 * (seed % 7))
        folder = try TemporaryFolder()
        stack = try data.stack(seed: seed, files: [])
        var number: UInt64 = 0
        var seen: Set<Record> = []
        waiting = (data.records["me"] ?? []).filter { seen.insert($0).inserted }.map { record in
            number += 1
            var record = record
            record.uuid = SampleID(high: seed << 32 | number, low: 0x8000_0000_0000_0000 | number)
            return record
        }
        stack.world.wallOffset = try SimulatedData.end() - .microseconds(stack.world.monotonic.microseconds)
    }

    // MARK: Steps

    func run(_ steps: [Step]) throws {
        try stack.start()
        try stack.world.run(for: .seconds(2))
        for step in steps { try take(step) }
        // The newest export has everything that the phone still has.
        try push(sent + waiting)
        try settle(stack, "at the end")
        // A day later everything is compared once more.
        stack.world.wallOffset += .seconds(25 * 3600)
        try stack.world.run(for: .seconds(40))
        try settle(stack, "a day later")
        try compare()
    }

    static func randomSteps(seed: UInt64) -> [Step] {
        var random = SeededRandom(seed: seed &* 31 &+ 5)
        let count = Int.random(in: 8...16, using: &random)
        return [.push] + (0..<count).map { _ in Step.allCases.randomElement(using: &random) ?? .rest }
    }

    private func take(_ step: Step) throws {
        done[step.rawValue, default: 0] += 1
        switch step {
        case .push:
            let count = min(waiting.count, Int.random(in: 1...40, using: &random))
            let part = Array(waiting.prefix(count))
            waiting.removeFirst(count)
            sent += part
            try push(part)
        case .delete:
            guard !sent.isEmpty else { return }
            let index = Int.random(in: 0..<sent.count, using: &random)
            let record = sent.remove(at: index)
            try push([], deleted: [record.uuid].compactMap { $0 })
            try settle(stack, "after a deletion")
            // A store that was lost doesn't know which sample it was.
            guard !Set(stack.backend.alive("samples").values.map(Self.key)).contains(Self.key(record)) else { return }
            deleted.append(record)
            done["deleted", default: 0] += 1
        case .backup:
            for host in stack.world.hosts {
                try Database(path: host.path, mode: .readOnly).copy(to: copy(of: host))
            }
            hasBackup = true
        case .restore:
            guard hasBackup else { return }
            for host in stack.world.hosts {
                host.crash()
                let draft = copy(of: host) + ".draft"
                try Database(path: copy(of: host), mode: .readOnly).copy(to: draft)
                try RestoredStore.begin(at: draft, replacing: host.path)
                try host.wipe()
                try FileManager.default.moveItem(atPath: draft, toPath: host.path)
                try host.start()
            }
        case .lose:
            let host = stack.world.hosts[Int.random(in: 0..<stack.world.hosts.count, using: &random)]
            done["lose \(host.name)", default: 0] += 1
            try host.wipe()
            try host.start()
        case .loseAll:
            for host in stack.world.hosts {
                try host.wipe()
                try host.start()
            }
        case .loseSlowly:
            // The samples are delivered and compared before the days and nights are there.
            for host in stack.world.hosts { try host.wipe() }
            let others = stack.world.hosts.filter { !["observer", "uploader"].contains($0.name) }
            for host in stack.world.hosts where !others.contains(where: { $0 === host }) { try host.start() }
            try stack.world.run(for: .seconds(2))
            try push(sent)
            try stack.world.run(for: .seconds(60))
            for host in others { try host.start() }
        case .clock:
            // Years, in either direction.
            stack.world.wallOffset += .seconds(Int64.random(in: -70_000_000...70_000_000, using: &random))
        case .rest: try settle(stack, "at rest")
        case .otherStack: try letOtherDeliver()
        }
        try stack.world.run(for: .seconds(Int64.random(in: 1...15, using: &random)))
    }

    private func copy(of host: SimulatedHost) -> String { folder.path + "/\(host.name).sqlite" }

    /// Another stack delivers for the same person to the same backend, with what the phone sent so far.
    private func letOtherDeliver() throws {
        try settle(stack, "before the other")
        let isNew = other == nil
        let two = try other ?? data.stack(seed: 1000, files: [])
        two.backend = stack.backend
        if isNew { try two.start() }
        two.world.wallOffset = stack.world.wallOffset
        try two.world.run(for: .seconds(2))
        other = two
        try push(Array(sent.prefix(sent.count / 2)), to: two)
        try settle(two, "the other")
        stack.backend = two.backend
    }

    private func push(_ records: [Record], deleted: [SampleID] = [], to other: SimulatedStack? = nil) throws {
        let target = other ?? stack
        parts += 1
        var part = IngestPart(
            id: "request-\(parts)", number: 0, user: "me", device: "phone", way: "/v1/samples")
        part.isLast = true
        part.records = Record.batch(records)
        part.deleted = deleted
        target.world.send(IngestPart.topic("observer"), part.body, from: "ingest")
        try target.world.run(for: .seconds(4))
    }

    private func settle(_ stack: SimulatedStack, _ when: String) throws {
        if let stuck = try stack.runUntilIdle(within: .seconds(600)) { problems.append("stuck \(when): \(stuck)") }
    }

    // MARK: The end

    private func compare() throws {
        let backend = stack.backend
        let saidWrong = stack.world.hosts.first { $0.name == "uploader" }?.heartbeat?.uploader?.proof?.wrong ?? -1
        var differences: [String] = []
        for name in ["consolidator", "sleep"] {
            guard let host = stack.world.hosts.first(where: { $0.name == name }), let reader = host.reader else {
                continue
            }
            let rows = try KeyedChangelog.page(in: reader, after: .beginning, until: .end, bytes: .max).rows
            for row in rows where row.topic == "daily.summary" || row.topic.hasPrefix("events.") {
                guard let id = row.key.split(separator: "/").last else { continue }
                let kind = row.topic == "daily.summary" ? "days" : "nights"
                let there = backend.entries[.init(user: row.user, kind: kind, id: String(id))]
                let document = DeliveryDocument.body(of: row).flatMap {
                    DeliveryDocument.versioned($0, row.sequence.value)
                }
                let here = try document.map { try Self.comparable(Value(json: $0.json().utf8)) }
                if here != there?.content.map(Self.comparable) { differences.append("\(kind) \(id)") }
            }
        }
        let alive = Set(backend.alive("samples").values.map(Self.key))
        for record in sent + waiting where !alive.contains(Self.key(record)) {
            differences.append("sample \(record.type) at \(record.start.microseconds)")
        }
        for record in deleted where alive.contains(Self.key(record)) {
            problems.append("a deleted sample is alive: \(record.type) at \(record.start.microseconds)")
        }
        if !differences.isEmpty, saidWrong == 0 {
            problems.append("nobody says that \(differences.count) differ: \(differences.prefix(3))")
        }
        // Without another stack and without deletions that a lost store has forgotten, there is nothing to disagree about.
        if done["otherStack"] == nil, done["deleted"] == nil, !differences.isEmpty || saidWrong != 0 {
            problems.append("\(differences.count) differ, \(saidWrong) said: \(differences.prefix(3))")
        }
        if saidWrong < 0 { problems.append("nothing was ever compared") }
        done[differences.isEmpty && saidWrong == 0 ? "equal" : "said", default: 0] += 1
    }

    private static func comparable(_ content: Value) -> Value {
        var members = content.object ?? [:]
        for name in ["revision", "version"] { members[name] = nil }
        return .object(members)
    }

    private static func key(_ content: Value) -> String {
        "\(content["type"].string ?? "") \(content["startDate"].string ?? "") \(content["endDate"].string ?? "") \(content["value"].double ?? -1)"
    }

    private static func key(_ record: Record) -> String {
        "\(record.type) \(InstantText.iso8601(record.start)) \(InstantText.iso8601(record.start + record.length)) \(record.value)"
    }
}
