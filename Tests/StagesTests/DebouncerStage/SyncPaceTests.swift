import DebouncerStage
import Foundation
import HealthModel
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing

@Suite struct SyncPaceTests {
    private static let day = Int64(86_400)

    /// Adds syncs an hour apart; returns after how many of them the state has changed, if it has.
    private func changes(_ pace: inout SyncPace, _ seconds: [Double], from hour: Int64) -> Int? {
        var changed: Int?
        for (index, time) in seconds.enumerated() {
            let now = Instant(seconds: (hour + Int64(index)) * 3600)
            if pace.add(.microseconds(Int64(time * 1e6)), at: now), changed == nil { changed = index + 1 }
        }
        return changed
    }

    /// Four days of syncs of about `seconds`, varied by up to a half.
    private func past(_ seconds: Double, _ random: inout SeededRandom) -> [Double] {
        (0..<96).map { _ in seconds * Double.random(in: 0.5...1.5, using: &random) }
    }

    @Test(arguments: [UInt64](1...50)) func whatVariesByHalfIsNeverSlow(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let usual = pow(10, Double.random(in: -2...2, using: &random))
        var pace = SyncPace()
        let all = (0..<12).flatMap { _ in past(usual, &random) }
        #expect(changes(&pace, all, from: 0) == nil)
    }

    /// Both are noticed as soon as most of the last nine syncs show it.
    @Test(arguments: [UInt64](1...50)) func fourTimesAsSlowIsNoticedAndSoIsItsEnd(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let usual = pow(10, Double.random(in: 0...1.5, using: &random))
        var pace = SyncPace()
        #expect(changes(&pace, past(usual, &random), from: 0) == nil)
        let slow = (0..<12).map { _ in usual * Double.random(in: 4...6, using: &random) }
        // Where single syncs vary by half, the median of those before doesn't reach twice the usual.
        let noticed = changes(&pace, slow.map { $0 * 1.5 }, from: 96)
        #expect(noticed.map { (5...9).contains($0) } == true && pace.isSlow, "\(noticed ?? 0)")
        let over = changes(&pace, (0..<9).map { _ in usual }, from: 108)
        #expect(over.map { (3...9).contains($0) } == true && !pace.isSlow, "\(over ?? 0)")
    }

    /// One slow sync in three, however slow: a process that was restarted, or a nap of the machine.
    @Test func singleSlowSyncsCountForNothing() {
        var pace = SyncPace()
        #expect(changes(&pace, (0..<300).map { $0 % 3 == 0 ? 500 : 1 }, from: 0) == nil)
    }

    @Test func whatNobodyNoticesIsNotSlow() {
        var pace = SyncPace()
        #expect(changes(&pace, Array(repeating: 0.005, count: 96) + Array(repeating: 1.9, count: 20), from: 0) == nil)
        #expect(changes(&pace, Array(repeating: 2.1, count: 5), from: 116) == 5)
        // It isn't over and back again with each sync near the limit.
        #expect(changes(&pace, Array(repeating: 1.2, count: 20), from: 121) == nil)
        #expect(changes(&pace, Array(repeating: 0.9, count: 9), from: 141) == 5)
    }

    @Test func withoutThreeEarlierDaysNothingIsSlow() {
        var pace = SyncPace()
        #expect(changes(&pace, Array(repeating: 1, count: 71) + [60], from: 0) == nil)
        #expect(changes(&pace, Array(repeating: 60, count: 24), from: 48 + 24) == 4)
    }

    /// A day of a slowdown doesn't make it the usual time; two weeks do.
    @Test func whatStaysSlowBecomesUsual() throws {
        var pace = SyncPace()
        let days = Int64(SyncPace.dayCount)
        #expect(changes(&pace, Array(repeating: 1, count: Int(days) * 24), from: 0) == nil)
        #expect(changes(&pace, Array(repeating: 10, count: 24), from: days * 24) == 5)
        let hours = try #require(changes(&pace, Array(repeating: 10, count: 40 * 24), from: (days + 1) * 24))
        #expect((13...15).contains(hours / 24))
        #expect(!pace.isSlow)
    }

    @Test func itsDaysAreSummedUpHoweverMany() throws {
        var pace = SyncPace()
        for date in Int64(0)..<4 {
            for second in Int64(0)..<5000 {
                let time = Duration.seconds(second < 2500 ? 1 : 3)
                _ = pace.add(time, at: Instant(seconds: date * Self.day + second))
            }
        }
        #expect((1...3).contains(try #require(pace.medians).before.seconds))
        #expect(Value(pace).json().utf8.count < 1000)
        #expect(Value(pace).read(SyncPace.self) == pace)
    }
}

/// The alert about slow syncs.
@Suite struct SlowSyncTests {
    private typealias Rig = StageRig<DebouncerStage>
    private let key = "alert/degraded/slow/steps"

    private func rig(steps: String = "steps") throws -> Rig {
        try StageRig {
            DebouncerStage(
                observer: "observer",
                consumers: [.init(name: steps, types: ["a"]), .init(name: "uploader", types: nil, role: .uploader)],
                policy: .init(window: .zero, maximumWait: .zero))
        }
    }

    /// Releases one change; "steps" has it after `seconds`, the uploader at once.
    private func sync(_ rig: Rig, _ sequence: Int64, takes seconds: Int64, importing: Bool = false) throws {
        let details: [String: Value] = importing ? ["importOpen": true] : [:]
        try rig.hear(beat("observer", head(sequence), heads: ["a": SequenceNumber(sequence)], details: details))
        try rig.hear(
            "observed.a", ["head": Value(head(sequence)), "type": "a", "sequence": .integer(sequence)])
        func reach(_ consumer: String) throws {
            try rig.hear(
                beat(consumer, head(1, store: consumer), frontier: ["observer": SequenceNumber(sequence)]))
        }
        try reach("uploader")
        try rig.pass(.seconds(seconds))
        try reach("steps")
        try rig.pass(.seconds(3))
    }

    /// Five days with nine syncs each.
    private func usualDays(_ rig: Rig) throws -> Int64 {
        var sequence = Int64(0)
        for _ in 0..<5 {
            for _ in 0..<9 {
                sequence += 1
                try sync(rig, sequence, takes: 1)
            }
            rig.now += .seconds(86_400)
        }
        return sequence
    }

    @Test func aMetricThatHasBecomeSlowIsReportedAndForgivenAcrossRestarts() throws {
        let rig = try rig()
        var sequence = try usualDays(rig)
        func syncs(_ count: Int, takes seconds: Int64, importing: Bool = false) throws {
            for _ in 0..<count {
                sequence += 1
                try sync(rig, sequence, takes: seconds, importing: importing)
            }
        }
        try syncs(4, takes: 8)
        #expect(try rig.rows()[key]?.body == .none)
        try rig.restart()
        // Of the first round after a start, nobody knows how much it had to do.
        try syncs(1, takes: 8)
        #expect(try rig.rows()[key]?.body == .none)
        try syncs(1, takes: 8)
        let alert = try #require(try rig.rows()[key]?.body?.read(RaisedAlert.self))
        #expect(alert.kind == "degraded" && !alert.isNews)
        #expect(alert.text.contains("steps") && alert.text.contains("8.0 s") && alert.text.contains("1.0 s"))
        #expect(try rig.rows()["alert/degraded/slow/uploader"]?.body == .none)
        try rig.restart()
        #expect(try rig.rows()[key]?.body?.read(RaisedAlert.self) == alert)
        try syncs(8, takes: 1)
        #expect(try rig.rows()[key]?.body == .none)
    }

    /// They would be most of the syncs of somebody who presses a button often, and take no time.
    @Test func syncsWithNothingToDoDoNotCount() throws {
        let rig = try rig()
        var sequence = try usualDays(rig)
        for number in 1...5 {
            sequence += 1
            try sync(rig, sequence, takes: 8)
            for press in 1...4 {
                try rig.hear("control.debouncer", ["command": "sync", "id": .string("\(number) \(press)")])
                try rig.pass(.seconds(3))
            }
        }
        #expect(try rig.report().details["manual"]?["result"]["succeeded"] == ["steps": 0, "uploader": 0])
        #expect(try rig.rows()[key]?.body?.isNull == false)
    }

    @Test func importsAndHistoricalSyncsDoNotCount() throws {
        let rig = try rig()
        var sequence = try usualDays(rig)
        for _ in 0..<12 {
            sequence += 1
            try sync(rig, sequence, takes: 8, importing: true)
        }
        for _ in 0..<12 {
            sequence += Rounds.manyChanges + 1
            try sync(rig, sequence, takes: 8)
        }
        #expect(try rig.rows()[key]?.body == .none)
    }
}
