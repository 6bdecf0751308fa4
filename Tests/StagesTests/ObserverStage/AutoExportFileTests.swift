import Changelog
import Foundation
import Glibc
import HealthImport
import HealthModel
import HealthPush
import HealthStore
import ObserverReading
import ObserverStage
import Protocol
import SQLite
import StageKit
import Synchronization
import TestSupport
import Testing

/// Files that Health Auto Export has written, through the inbox and the stage.
@Suite struct AutoExportFileTests {
    private static let id = "aaaaaaaa-0001"
    private let folder: TemporaryFolder
    private let inbox: Inbox

    init() throws {
        folder = try TemporaryFolder()
        inbox = try Inbox(folder: folder.path + "/inbox")
    }

    private static func entry(_ minute: Int) -> String {
        let (hour, rest) = (String(minute / 60), String(minute % 60))
        let time = (hour.count < 2 ? "0" : "") + hour + ":" + (rest.count < 2 ? "0" : "") + rest
        return #"{"qty":\#(60 + minute % 30),"date":"2026-09-01 \#(time):07 +0200","source":"Watch"}"#
    }

    private static func body(_ entries: [String], metric: String = "resting_heart_rate", units: String = "bpm")
        -> String
    {
        #"{"data":{"metrics":[{"name":"\#(metric)","units":"\#(units)","data":[\#(entries.joined(separator: ","))]}]}}"#
    }

    /// What the inbox finds in a file.
    private func events(_ text: String, stopAfter limit: Int = .max) async throws -> [ImportEvent] {
        let path = folder.path + "/inbox/" + Self.id
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let found = Mutex<[ImportEvent]>([])
        let isOver = Mutex(false)
        inbox.perform(Effect(id: 1, request: ObserverEffect.read(id: Self.id, path: "/x.json", known: [:]))) { result in
            guard let event = result.value as? ImportEvent else { return false }
            let count = found.withLock {
                $0.append(event)
                return $0.count
            }
            if count >= limit {
                isOver.withLock { $0 = true }
                return false
            }
            switch event {
            case .finished, .unreadable: isOver.withLock { $0 = true }
            default: break
            }
            return true
        }
        _ = try await eventually(every: 2) { isOver.withLock { $0 } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/inbox") == [Self.id])
        return found.withLock { $0 }
    }

    private func batches(_ events: [ImportEvent]) -> [RecordBatch] {
        events.compactMap { if case .found(.records(let batch)) = $0 { batch } else { nil } }
    }

    @Test func aFileGivesWhatItsPushWouldInPieces() async throws {
        let text = Self.body(
            (0..<1440).flatMap { minute in [Int](repeating: minute, count: 7).map(Self.entry) } + ["7"])
        let found = try await events("\u{FEFF}" + text)
        let pushed = try HealthAutoExport.changes(in: Array(text.utf8), aggregation: nil, now: .epoch)
        let batches = batches(found)
        #expect(batches.map(\.count) == [4096, 4096, 1888] && pushed.records.count == 10_080)
        #expect(batches.flatMap(\.start) == pushed.records.start && batches.flatMap(\.value) == pushed.records.value)
        #expect(batches.flatMap(\.line) == pushed.records.line)
        #expect(batches.allSatisfy { $0.types == pushed.records.types && $0.origins == pushed.records.origins })
        let apart = found.flatMap { event -> [QuarantinedInput] in
            if case .found(.quarantined(let inputs)) = event { inputs } else { [] }
        }
        #expect(apart.map(\.line) == [10_081] && apart.map(\.raw) == pushed.quarantined.map(\.raw))
        var summary = ReadSummary()
        if case .finished(let reported) = found.last { summary = reported }
        #expect(summary.records == 10_080 && summary.quarantined == 1 && summary.statistics.isEmpty)
    }

    /// The count runs through all pieces.
    @Test func whatAFileHasAsSumsIsReported() async throws {
        let entry = #"{"qty":9,"date":"2026-09-01 10:00:00 +0200","source":"Watch"}"#
        let found = try await events(
            Self.body([String](repeating: entry, count: 5000), metric: "step_count", units: "count"))
        #expect(batches(found).count == 2)
        guard case .finished(let summary) = found.last else {
            Issue.record("it isn't finished")
            return
        }
        #expect(
            summary.statistics == [
                TakenStatistics(
                    type: "HKQuantityTypeIdentifierStepCount", count: 5000,
                    reason: "all of the metric's dates are on whole hours")
            ])
    }

    /// Then its owner may cut it while it is read.
    @Test func aFileWithAnotherNameIsReadFromACopy() async throws {
        let path = folder.path + "/inbox/" + Self.id
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(link(path, folder.path + "/mine.json") == 0)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.write(contentsOf: Data(Self.body([Self.entry(5)]).utf8))
        try handle.close()
        let found = Mutex<[ImportEvent]>([])
        inbox.perform(Effect(id: 1, request: ObserverEffect.read(id: Self.id, path: "/x.json", known: [:]))) { result in
            if let event = result.value as? ImportEvent { found.withLock { $0.append(event) } }
            return true
        }
        _ = try await eventually(every: 2) {
            found.withLock { $0.contains { if case .finished = $0 { true } else { false } } }
        }
        #expect(found.withLock { batches($0).map(\.count) } == [1])
    }

    @Test(arguments: [
        #"{"data":{"metrics":["#, body((0..<1440).map(entry) + (0..<1440).map(entry) + (0..<1440).map(entry)) + " x",
        #"{"data":[]}"#,
    ])
    func ofAMalformedFileNothingIsTaken(text: String) async throws {
        let found = try await events(text)
        var reason = ""
        if case .unreadable(let reported) = found.last { reason = reported }
        #expect(reason.contains("'/x.json' begins as a file of Health Auto Export") && batches(found).isEmpty)
        #expect(reason.hasSuffix("copy it again, or have the app write it again"))
    }

    @Test func aStoppedReaderStops() async throws {
        let many = Self.body((0..<1440).flatMap { minute in [Int](repeating: minute, count: 7).map(Self.entry) })
        #expect(try await events(many, stopAfter: 2).count == 2)
    }

    /// The days end with the person's, the rows are stored, and a repeat changes nothing.
    @Test func theStageStoresItWithThePersonsDays() async throws {
        let found = try await events(
            Self.body(
                [#"{"qty":5000,"date":"2026-03-29 00:00:00 +0100","source":"Watch"}"#], metric: "step_count",
                units: "count"))
        let rig = try StageRig {
            RepairStage(
                ObserverStage(instance: "observer", zone: "Europe/Berlin", defaultUser: "me", rowsPerStep: 4),
                instance: "observer")
        }
        try rig.hear(
            "control.observer", ["command": "import", "id": .string(Self.id), "path": "/x.json", "user": "me"])
        let adopt = try #require(
            rig.effects.last { if case .adopt? = $0.request as? ObserverEffect { true } else { false } })
        try rig.reply(adopt, FileStep.adopted(id: Self.id))
        let read = try #require(
            rig.effects.last { if case .read? = $0.request as? ObserverEffect { true } else { false } })
        for event in found { try rig.reply(read, event) }
        let lengths = try rig.store.database.prepare("SELECT duration FROM samples")
        var stored: [Int64] = []
        try lengths.forEachRow { stored.append($0.int64(0)) }
        #expect(stored == [23 * 3600 * Instant.microsecondsPerSecond])
    }
}
