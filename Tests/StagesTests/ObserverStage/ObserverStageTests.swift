import Changelog
import Foundation
import HealthImport
import HealthModel
import HealthStore
import ObserverReading
import ObserverStage
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

@Suite struct ObserverStageTests {
    private static let home = "Europe/Berlin"
    private static let steps = "HKQuantityTypeIdentifierStepCount"
    private let start: Instant
    private let hour = Duration.seconds(3600)

    init() throws { start = try #require(InstantText.parse("2025-03-10T00:00:00Z")) }

    private func rig() throws -> StageRig<ObserverStage> {
        try StageRig {
            ObserverStage(instance: "observer", zone: Self.home, defaultUser: "me", rowsPerStep: 7)
        }
    }

    // MARK: A file, by hand

    /// Sends the command, and answers everything up to the effect that reads the file.
    private func begin(_ rig: StageRig<ObserverStage>, _ id: String, _ options: [String: Value] = [:]) throws {
        try rig.hear(
            "control.observer",
            .object(
                ["command": "import", "id": .string(id), "path": "/x.zip", "user": "me"].merging(options) { $1 }))
        let adopt = try #require(
            rig.effects.last { if case .adopt? = $0.request as? ObserverEffect { true } else { false } })
        try rig.reply(adopt, FileStep.adopted(id: id))
    }

    /// The latest request to read the file.
    private func asked(_ rig: StageRig<ObserverStage>, _ id: String) -> Effect? {
        rig.effects.last { if case .read(id, _, _)? = $0.request as? ObserverEffect { true } else { false } }
    }

    /// A complete import is tried before it is really read: runs turns until its file is requested again; returns false
    /// if it ends first.
    private func rehearsed(_ rig: StageRig<ObserverStage>, _ id: String) throws -> Bool {
        for _ in 0..<200 {
            if asked(rig, id) != nil { return true }
            if try importRow(rig, id)["state"] == "closed" { return false }
            #expect(rig.deadline == rig.monotonic)
            try rig.turn()
        }
        Issue.record("the import doesn't go on")
        return false
    }

    /// Passes on what the reader finds, to the end of the file.
    private func read(
        _ rig: StageRig<ObserverStage>, _ id: String, _ records: [Record], date: Instant?, damaged: Damage? = nil,
        notUnderstood: [QuarantinedInput] = [], batch: Int = 10
    ) throws {
        let effect = try #require(asked(rig, id))
        rig.effects.removeAll { $0.id == effect.id }
        var summary = ReadSummary()
        summary.damaged = damaged
        var events: [ImportEvent] = [.found(.info(ExportInfo(date: date, locale: "en_DE")))]
        for first in stride(from: 0, to: records.count, by: batch) {
            events.append(.found(.records(Record.batch(Array(records[first..<min(first + batch, records.count)])))))
        }
        if !notUnderstood.isEmpty { events.append(.found(.quarantined(notUnderstood))) }
        for event in events + [.finished(summary)] {
            try rig.reply(effect, event)
        }
    }

    private func ask(_ rig: StageRig<ObserverStage>, _ query: Value) throws -> Value {
        var answer: [Value] = []
        try ObserverSource(database: rig.store.database).answer(query, head: rig.store.head) { members, _ in
            answer.append(.object(members))
        }
        return try #require(answer.first)
    }

    private func importRow(_ rig: StageRig<ObserverStage>, _ id: String) throws -> Value {
        try #require(try ask(rig, ["query": "imports", "import": .string(id)])["imports"].array?.first)
    }

    /// Runs turns until the import is closed.
    private func finish(_ rig: StageRig<ObserverStage>, _ id: String) throws -> Value {
        for _ in 0..<200 {
            let row = try importRow(rig, id)
            if row["state"] == "closed" { return row["report"] }
            // The stage asks to be called again at once.
            #expect(rig.deadline == rig.monotonic)
            try rig.turn()
        }
        Issue.record("the import doesn't end")
        return .null
    }

    private func run(
        _ rig: StageRig<ObserverStage>, _ id: String, _ records: [Record], date: Instant? = nil,
        _ options: [String: Value] = [:]
    ) throws -> Value {
        try begin(rig, id, options)
        try read(rig, id, records, date: date ?? start + 1000 * hour)
        if options["complete"] == true, options["dryRun"] != true, try rehearsed(rig, id) {
            try read(rig, id, records, date: date ?? start + 1000 * hour)
        }
        return try finish(rig, id)
    }

    private func alive(_ rig: StageRig<ObserverStage>) throws -> [Double] {
        let page = try HealthStoreReader(database: rig.store.database).anchored(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: .beginning))
        ).samples
        return page.value.indices.filter { !page.flags[$0].contains(.deleted) }.map { page.value[$0] }.sorted()
    }

    private func life(_ values: ClosedRange<Int>) -> [Record] {
        values.map { Record(start: start + hour * $0, value: Double($0)) }
    }

    // MARK: Zones

    /// Some programs write spaces, and escape slashes.
    private func observed(_ zone: String, hours: [Int], source: String = "iPhone") -> [Record] {
        hours.map {
            let member =
                $0 % 2 == 0
                ? #""HKTimeZone":"\#(zone)""# : #""HKTimeZone" : "\#(zone.replacing("/", with: #"\/"#))""#
            return Record(
                source: source, start: start + hour * $0, value: 1,
                metadata: #"{"HKExternalUUID":"Z",\#(member),"x":"\"HKTimeZone\":\"Asia/Tokyo\""}"#)
        }
    }

    private func timeline(_ rig: StageRig<ObserverStage>) throws -> Value {
        try ask(rig, ["query": "zones", "after": 0, "until": .integer(.max)])["zones"]["me"]
    }

    @Test func aFlightSeenInTheDataMovesTheTimelineAtTheFilesEnd() throws {
        let rig = try rig()
        let records =
            observed(Self.home, hours: [1, 5, 9]) + observed("America/New_York", hours: [30, 31, 40])
            + observed("Etc/GMT-9", hours: [50, 51, 52]) + observed("Nowhere/City", hours: [54, 55, 56])
            + observed(Self.home, hours: [60, 70])
        try begin(rig, "a0000000-0")
        try read(rig, "a0000000-0", records.shuffled(), date: nil, batch: 3)
        let expected: Value = [
            [.null, "Europe/Berlin"], [.integer((start + hour * 30).microseconds), "America/New_York"],
            [.integer((start + hour * 60).microseconds), "Europe/Berlin"],
        ]
        #expect(try timeline(rig) == expected)
        let head = rig.store.head
        // Importing the same file again, or restarting, changes nothing.
        _ = try run(rig, "a0000000-1", records)
        try rig.restart()
        #expect(rig.store.head == head)
        #expect(try timeline(rig) == expected)
        let parts = try ask(rig, ["query": "timeline", "user": "me"])["timeline"].array ?? []
        #expect(parts.compactMap { $0.array?.last?.string } == ["set", "seen", "seen"])
        #expect(try ask(rig, ["query": "timeline", "user": "nobody"])["timeline"] == .null)
    }

    @Test func whatWasObservedBeforeACrashIsSettledAfterIt() throws {
        let rig = try rig()
        try begin(rig, "a0000000-0")
        let effect = try #require(rig.effects.last)
        try rig.reply(
            effect, ImportEvent.found(.records(Record.batch(observed("Asia/Tokyo", hours: [1, 2])))))
        #expect(try timeline(rig).array?.count == 1)
        try rig.restart()
        #expect(try timeline(rig).array?.count == 2)
    }

    @Test func commandsAreIdempotentAndWin() throws {
        let rig = try rig()
        func say(_ members: [String: Value]) throws {
            try rig.hear("control.observer", .object(members.merging(["command": "zone", "user": "me"]) { $1 }))
        }
        _ = try run(rig, "a0000000-0", observed("Asia/Tokyo", hours: [10, 20, 30, 40]))
        let from = Value.integer((start + hour * 25).microseconds)
        for _ in 0..<2 { try say(["action": "add", "from": from, "zone": "America/New_York"]) }
        let expected: Value = [
            [.null, "Europe/Berlin"], [.integer((start + hour * 10).microseconds), "Asia/Tokyo"],
            [from, "America/New_York"],
        ]
        #expect(try timeline(rig) == expected)
        let head = rig.store.head
        try say(["action": "add", "from": from, "zone": "America/New_York"])
        try say(["action": "add", "from": from, "zone": "Nowhere/City"])
        try say(["action": "remove", "from": 7])
        try say(["action": "set"])
        #expect(rig.store.head == head)
        try say(["action": "remove", "from": from])
        try say(["action": "set", "zone": "Asia/Tokyo"])
        #expect(try timeline(rig) == [[.null, "Asia/Tokyo"]])
        try rig.restart()
        #expect(try timeline(rig) == [[.null, "Asia/Tokyo"]])
    }

    /// A timeline stored before there were settings keeps its zone.
    @Test func aTimelineWithoutSettingsBecomesOne() throws {
        let rig = try rig()
        try rig.store.transaction {
            try rig.store.database.execute(
                "DELETE FROM zone_settings; UPDATE zone_timelines SET timeline = '[[null,\"Asia/Tokyo\"]]'")
        }
        let head = rig.store.head
        try rig.restart()
        #expect(try timeline(rig) == [[.null, "Asia/Tokyo"]])
        #expect(rig.store.head == head)
    }

    // MARK: What is quarantined

    private func reasons(_ rig: StageRig<ObserverStage>) throws -> [String] {
        var reasons: [String] = []
        try rig.store.database.prepare("SELECT reason FROM quarantine ORDER BY number").forEachRow {
            reasons.append($0.string(0))
        }
        return reasons
    }

    private func detail(_ rig: StageRig<ObserverStage>) throws -> Value {
        try #require(try rig.report().details["quarantined"])
    }

    @Test func theSameFileAgainCountsTheSameAsQuarantined() throws {
        let rig = try rig()
        let records = life(1...5) + [Record(start: start + 90 * hour, value: -5)]
        let first = try run(rig, "a0000000-0", records)
        #expect(first["added"] == 5 && first["known"] == 0 && first["quarantined"] == 1)
        for (id, options) in [("a0000000-1", [:]), ("a0000000-2", ["dryRun": true])] as [(String, [String: Value])] {
            let again = try run(rig, id, records, options)
            #expect(again["added"] == 0 && again["known"] == 5 && again["quarantined"] == 1)
            #expect(try detail(rig) == 1)
        }
    }

    /// Input that a person dropped isn't counted as quarantined when it arrives again.
    @Test func whatWasDroppedIsNotQuarantinedAgain() throws {
        let rig = try rig()
        let odd = QuarantinedInput(line: 99, reason: "startDate isn't a date", raw: "<Record type=\"T\" a=\"1\"/>")
        let other = QuarantinedInput(line: 100, reason: odd.reason, raw: "<Record type=\"T\" a=\"2\"/>")
        func counts(_ id: String, _ inputs: [QuarantinedInput], _ options: [String: Value] = [:]) throws -> [Int64?] {
            try begin(rig, id, options)
            try read(rig, id, life(1...3), date: nil, notUnderstood: inputs)
            let report = try finish(rig, id)
            #expect(
                report["byType"]["T"]["read"].int == Int64(inputs.count)
                    && report["read"].int == Int64(3 + inputs.count))
            return ["quarantined", "deleted"].map { report[$0].int }
        }
        #expect(try counts("a0000000-0", [odd]) == [1, 0])
        try rig.turn { _ = try rig.stage.repair(RepairRequest(id: "drop", action: "drop"), $0) }
        try rig.turn { _ = try rig.stage.repaired(RepairRequest(id: "drop", action: "drop"), $0) }
        #expect(try detail(rig) == 0)
        #expect(try counts("a0000000-1", [odd, other], ["dryRun": true]) == [1, 1])
        #expect(try counts("a0000000-2", [odd, other]) == [1, 1])
        try rig.restart()
        #expect(try detail(rig) == 1)
    }

    /// A torn copy leaves pieces in the quarantine; the whole file has them as records.
    @Test func piecesOfADamagedFileGoOnceItIsWhole() throws {
        let rig = try rig()
        let pieces = DamageReason.allCases.enumerated().map { number, reason in
            QuarantinedInput(line: Int64(number), reason: reason.rawValue, raw: "<Record type=\"T")
        }
        let odd = QuarantinedInput(line: 99, reason: "startDate isn't a date", raw: "<Record type=\"T\" a=\"1\"/>")
        try begin(rig, "a0000000-0")
        let damage = Damage(what: "it ends early", entry: "export.xml", line: 7)
        try read(rig, "a0000000-0", life(1...3), date: nil, damaged: damage, notUnderstood: pieces + [odd])
        #expect(try reasons(rig).count == pieces.count + 1)
        #expect(try detail(rig) == .integer(Int64(pieces.count + 1)))
        // Neither importing a different file nor a dry run of this one changes that.
        _ = try run(rig, "a0000000-1", life(1...5), ["path": "/other.zip"])
        _ = try run(rig, "a0000000-2", life(1...5), ["dryRun": true])
        #expect(try reasons(rig).count == pieces.count + 1)
        _ = try run(rig, "a0000000-3", life(1...5))
        #expect(try reasons(rig) == [odd.reason])
        #expect(try detail(rig) == 1)
    }

    @Test(arguments: [("2027-01-01", true), ("2026-12-24", false), ("1899-01-01", true)])
    func aDateOfBirthThatCantBeOneIsntLearned(birth: String, isRefused: Bool) throws {
        let rig = try rig()
        rig.now = try #require(InstantText.parse("2026-12-24T00:00:00Z"))
        try begin(rig, "a0000000-0")
        let effect = try #require(asked(rig, "a0000000-0"))
        let info = ExportInfo(date: nil, locale: "", dateOfBirth: LocalDay(birth))
        try rig.reply(effect, ImportEvent.found(.info(info)))
        try rig.reply(effect, ImportEvent.finished(ReadSummary()))
        let report = try finish(rig, "a0000000-0")
        #expect(report["impossibleDateOfBirth"] == .bool(isRefused))
        let learned = try rig.store.database.prepare("SELECT members FROM characteristics").firstRow { $0.string(0) }
        #expect((learned == nil) == isRefused)
    }

    // MARK: Documents

    /// If the process is killed between two parts of a document, no part is stored, and reading the file again stores
    /// it completely.
    @Test func aDocumentThatIsInterruptedIsntHalf() throws {
        let rig = try rig()
        let id = "a0000000-0"
        let file = DocumentFile(kind: .attachment, name: "scan.pdf", mediaType: "application/pdf")
        let halves: [[UInt8]] = [[1, 2, 3], [4]]
        let end = DocumentPart.End(hash: ContentDigest([1, 2, 3, 4]).bytes, piece: nil)
        let parts = [
            DocumentPart(file: file, offset: 0, bytes: halves[0], end: nil),
            DocumentPart(file: file, offset: 3, bytes: halves[1], end: end),
        ]
        func rows(_ table: String) throws -> Int? {
            try rig.store.database.prepare("SELECT count(*) FROM \(table)").firstRow { $0.int(0) }
        }
        try begin(rig, id)
        try rig.reply(try #require(asked(rig, id)), ImportEvent.found(.document(parts[0])))
        #expect(try rows("documents") == 1 && rows("document_parts") == 1)
        try rig.restart()
        #expect(try rows("documents") == 0 && rows("document_parts") == 0)
        try rig.turn()
        let again = try #require(asked(rig, id))
        for part in parts { try rig.reply(again, ImportEvent.found(.document(part))) }
        try rig.reply(again, ImportEvent.finished(ReadSummary()))
        #expect(try finish(rig, id)["attachments"] == 0)
        let kept = try HealthStoreReader(database: rig.store.database).documents(user: "me", limit: 5)
        #expect(kept.map(\.file) == [file] && kept.map(\.bytes) == [4])
    }

    /// An archive ends within a document: the incomplete document is removed when the import ends. A dry run keeps
    /// nothing.
    @Test(arguments: [true, false]) func aDocumentWithoutItsEndGoes(isTrial: Bool) throws {
        let rig = try rig()
        let id = "a0000000-0"
        let file = DocumentFile(kind: .attachment, name: "scan.pdf", mediaType: "application/pdf")
        try begin(rig, id, isTrial ? ["dryRun": true] : [:])
        let effect = try #require(asked(rig, id))
        let part = DocumentPart(file: file, offset: 0, bytes: [1], end: nil)
        try rig.reply(effect, ImportEvent.found(.document(part)))
        var summary = ReadSummary()
        summary.damaged = Damage(what: "it ends early", entry: "scan.pdf", line: 0)
        try rig.reply(effect, ImportEvent.finished(summary))
        _ = try finish(rig, id)
        let left = try rig.store.database.prepare("SELECT count(*) FROM documents").firstRow { $0.int(0) }
        #expect(left == 0)
    }

    // MARK: Complete exports

    @Test(arguments: [0, 1, 3, 5, 8, 11, 14, 16, 18, 20, 24, 28, 32])
    func aCompleteImportDeletesWhatItLacksThoughItIsInterrupted(_ turns: Int) throws {
        let rig = try rig()
        _ = try run(rig, "a0000000-0", life(1...60))
        let newer = life(20...62)
        let id = "a0000000-1"
        try begin(rig, id, ["complete": true, "deleteUpTo": 50])
        // The steps from 20 to 30 are missing from the newer export.
        let kept = [newer[0]] + newer[11...]
        try read(rig, id, kept, date: start + 1000 * hour)
        for _ in 0..<turns {
            if asked(rig, id) != nil { try read(rig, id, kept, date: start + 1000 * hour) }
            try rig.turn()
        }
        try rig.restart()
        for _ in 0..<2 where try importRow(rig, id)["state"] != "closed" {
            guard try rehearsed(rig, id) else { break }
            try read(rig, id, kept, date: start + 1000 * hour)
        }
        let report = try finish(rig, id)
        #expect(report["deletedByAbsence"] == 10 && report["refused"] == .null && report["added"] == 2)
        #expect(report["byType"][Self.steps]["deletedByAbsence"] == 10)
        #expect(try alive(rig) == ((1...20).map(Double.init) + (31...62).map(Double.init)))
        // A later export that contains them undoes the deletion.
        let again = try run(rig, "a0000000-2", life(20...62), date: start + 2000 * hour, ["complete": true])
        #expect(again["added"] == 10 && again["deletedByAbsence"] == 0)
        #expect(try alive(rig) == (1...62).map(Double.init))
    }

    @Test func isRefusedWithoutDeletingAnything() throws {
        let rig = try rig()
        _ = try run(rig, "a0000000-0", life(1...40))
        var number = 1
        func refused(
            _ records: [Record], date: Instant?, damaged: Damage? = nil, notUnderstood: [QuarantinedInput] = [],
            _ options: [String: Value] = [:]
        ) throws -> String? {
            number += 1
            let id = "a0000000-\(number)"
            try begin(rig, id, options.merging(["complete": true]) { $1 })
            try read(rig, id, records, date: date, damaged: damaged, notUnderstood: notUnderstood)
            if try rehearsed(rig, id) { try read(rig, id, records, date: date) }
            let report = try finish(rig, id)
            if report["refused"].string != nil {
                #expect(report["deletedByAbsence"] == 0 && report["added"] == 0)
            }
            return report["refused"].string
        }
        let date = start + 1000 * hour
        let most = Array(life(1...39))
        let whole = life(1...40)
        #expect(
            try refused(most, date: date, damaged: Damage(what: "it ends early", entry: "export.xml", line: 7))?
                .contains("damaged") == true)
        #expect(
            try refused(most, date: date, notUnderstood: [.init(line: 3, reason: "no date", raw: "<Record/>")])?
                .contains("understood") == true)
        #expect(try refused(most, date: nil)?.contains("ExportDate") == true)
        #expect(
            try refused(Array(life(1...37)), date: date)?.contains("3 of 40 stored samples (7.5 %); the limit is 5 %")
                == true)
        #expect(try alive(rig).count == 40)
        #expect(try refused(most, date: date) == nil)
        #expect(try alive(rig).count == 39)
        // An older export isn't even read: it would bring back deleted samples.
        #expect(try refused(whole, date: date - 1 * hour)?.contains("already been imported") == true)
        #expect(try alive(rig).count == 39)
        #expect(try refused(whole, date: date) == nil)
        #expect(try refused([whole[0]], date: date, ["deleteUpTo": 100]) == nil)
        #expect(try alive(rig) == [1])
    }

    /// The export may be another person's: if it is refused, none of it is stored, and the report says so.
    @Test func nothingOfARefusedOneStays() throws {
        let rig = try rig()
        _ = try run(rig, "a0000000-0", life(1...40))
        let (head, before) = (rig.store.head, try alive(rig))
        let others = (1...50).map {
            Record(start: start + hour * $0 - .seconds(60), value: 1000 + Double($0))
        }
        let report = try run(rig, "a0000000-1", others, ["complete": true])
        #expect(report["refused"].string?.contains("40 of 40") == true, "\(report)")
        #expect(report["added"] == 0 && report["known"] == 0 && report["read"] == 50)
        #expect(try alive(rig) == before && rig.store.head == head)
    }

    // MARK: News

    /// The first file is history, whatever it contains; anything that comes later is news.
    @Test func theFirstFileOfAPersonIsBulk() throws {
        let rig = try rig()
        func isBulk(after: SequenceNumber) throws -> Bool {
            let head = rig.store.head
            let page = try ask(
                rig,
                [
                    "query": "spans", "types": ["exclude": []], "store": .string(head.store),
                    "generation": .string(head.generation), "after": .integer(after.value),
                    "until": .integer(head.sequence.value),
                ])
            return page["bulk"] == true
        }
        let beginning = rig.store.sequence
        _ = try run(rig, "a0000000-0", life(1...40))
        #expect(try isBulk(after: beginning))
        try rig.restart()
        #expect(try isBulk(after: beginning))
        let between = rig.store.sequence
        _ = try run(rig, "a0000000-1", life(1...42))
        #expect(try !isBulk(after: between))
    }

    @Test func aTrialSaysWhatWouldBeAndChangesNothing() throws {
        let rig = try rig()
        _ = try run(rig, "a0000000-0", life(1...40))
        let before = try alive(rig)
        let head = rig.store.head
        let report = try run(
            rig, "a0000000-1", observed("Asia/Tokyo", hours: [100, 101, 102]) + Array(life(1...38)),
            ["complete": true, "dryRun": true, "deleteUpTo": 10])
        #expect(report["dryRun"] == true && report["refused"] == .null)
        #expect(report["added"] == 3 && report["known"] == 38 && report["deletedByAbsence"] == 2)
        let small = try run(rig, "a0000000-2", [life(1...1)[0]], ["complete": true, "dryRun": true])
        #expect(small["deletedByAbsence"] == 39 && small["refused"].string != nil)
        #expect(try alive(rig) == before)
        #expect(rig.store.head == head)
    }
}
