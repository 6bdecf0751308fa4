import Changelog
import FilesStage
import HealthModel
import MessageBus
import Protocol
import StageKit
import TestSupport
import Testing

/// Which files are written, and when, if only days are delivered: the stage runs turn by turn, with a dictionary as its
/// disk.
@Suite struct FilesStageTests {
    private static let file = "user=me/days/year=2025.csv"
    private static let manifest = "manifest.json"

    /// A stage, a consolidator with some days, and a disk.
    private final class Rig {
        let stage: StageRig<FilesStage>
        /// The consolidator's days by number, each with its sequence number and steps.
        var days: [Int64: (sequence: Int64, steps: Int64)] = [:]
        var sequence: Int64 = 0
        var disk: [String: String] = [:]
        /// Paths in the order they were written.
        var written: [String] = []
        var problem: FileProblem?
        private var open: [Int64: String] = [:]
        /// The configuration for the next process.
        let choice = Choice()

        final class Choice {
            var layout = FilesLayout([:])
            var folder: String?
        }

        init() throws {
            let choice = choice
            stage = try StageRig {
                FilesStage(
                    observer: "observer", handlers: [], consolidator: "consolidator", instance: "files",
                    folder: choice.folder, layout: choice.layout, figures: [], settle: .seconds(2), family: { $0 })
            }
            try stage.turn()
            try hear()
        }

        func hear() throws {
            try stage.hear("sync.files", ["head": Value(head(0)), "released": 0])
            try stage.hear(beat("consolidator", head(sequence, store: "consolidator")))
        }

        /// A day changes, and the consolidator reports it.
        func change(_ number: Int64, steps: Int64) throws {
            sequence += 1
            days[number] = (sequence, steps)
            try hear()
        }

        /// Does what the stage asks for until it asks for nothing more; returns false if that takes more than `limit`
        /// steps.
        @discardableResult
        func serve(_ limit: Int = 1000) throws -> Bool {
            for _ in 0..<limit {
                if let pull = stage.pulls.first {
                    try stage.answer(pull, .pages([page(for: pull)]))
                } else if let effect = stage.effects.first {
                    try stage.reply(effect, outcome(effect.request))
                } else {
                    return true
                }
            }
            return false
        }

        private func page(for pull: Pull) -> Value {
            let after = pull.query["after"]?["base"].int ?? pull.query["after"]?.int ?? 0
            let rows = days.filter { $0.value.sequence > after }.sorted { $0.value.sequence < $1.value.sequence }
            return [
                "rows": .array(
                    rows.map { number, day in
                        let date = LocalDay(number: Int(number)).description
                        return KeyedChangelog.Row(
                            sequence: SequenceNumber(day.sequence), key: "day/me/\(date)", topic: "daily.summary",
                            user: "me", day: Int(number), body: ["date": .string(date), "steps": .integer(day.steps)]
                        ).wireValue
                    }), "through": .integer(sequence), "head": Value(head(sequence, store: "consolidator")),
            ]
        }

        private func outcome(_ request: any Sendable) -> FileOutcome {
            if let problem { return .failed(problem) }
            switch request {
            case is ListFiles: return .listed(disk.keys.filter { $0 != manifest }.sorted(), isLast: true)
            case let compare as CompareFiles:
                return .compared(differing: compare.entries.filter { disk[$0.path] != $0.sum }.map(\.path))
            case let part as FilePart:
                var text = part.isFirst ? String(decoding: part.head, as: UTF8.self) : open[part.job] ?? ""
                guard case .bytes(let bytes, let rows) = part.content else { return .taken }
                text += String(decoding: bytes, as: UTF8.self)
                open[part.job] = text
                guard part.isLast else { return .taken }
                if rows == 0, !part.keepsEmpty {
                    disk[part.path] = nil
                    return .removed
                }
                disk[part.path] = text
                written.append(part.path)
                // Here the content serves as its own checksum.
                return .written(
                    rows: rows, bytes: Int64(text.utf8.count), sum: text, isChanged: part.known?.sum != text)
            default: return .taken
            }
        }

        func frontier() throws -> SequenceNumber? { try stage.report().frontier["consolidator"] }
    }

    private static let day: Int64 = 20_200

    @Test func aChangeIsWrittenOnceItHasSettledAndTheManifestTellsOfIt() throws {
        let rig = try Rig()
        try rig.serve()
        try rig.change(Self.day, steps: 1)
        try rig.change(Self.day, steps: 2)
        try rig.serve()
        #expect(rig.disk[Self.file] == nil, "it may go on changing")
        #expect(try rig.frontier() == 0, "nothing of it is on the disk")
        try rig.stage.pass(.seconds(3))
        rig.written = []
        try rig.serve()
        #expect(rig.written == [Self.manifest, Self.file, Self.manifest], "before and after")
        #expect(rig.disk[Self.file] == "user_id,date,zone,final,revision,version\nme,2025-04-22,,,,2\n")
        #expect(try rig.frontier() == 2)
        let manifest = try Value(json: Array((rig.disk[Self.manifest] ?? "").utf8))
        #expect(manifest["complete"] == true && manifest["files"].array?.count == 1)
        #expect(manifest["files"].array?.first?["path"] == .string(Self.file))
    }

    /// Files that aren't on disk when the process ends are written by the next process; so are files that are on disk
    /// but not yet recorded.
    @Test func aKillAtAnyPointEndsWithTheSame() throws {
        for steps in 0..<12 {
            let rig = try Rig()
            try rig.serve()
            try rig.change(Self.day, steps: 5)
            try rig.stage.pass(.seconds(3))
            try rig.serve(steps)
            try rig.stage.restart()
            try rig.hear()
            try rig.serve()
            try rig.stage.pass(.seconds(3))
            #expect(try rig.serve())
            #expect(rig.disk[Self.file]?.hasSuffix("me,2025-04-22,,,,1\n") == true, "killed after \(steps)")
            #expect(try rig.frontier() == 1, "killed after \(steps)")
            let manifest = try Value(json: Array((rig.disk[Self.manifest] ?? "").utf8))
            #expect(manifest["complete"] == true && manifest["files"].array?.count == 1, "killed after \(steps)")
        }
    }

    @Test func whatChangesWhileItIsWrittenIsWrittenAgain() throws {
        let rig = try Rig()
        try rig.serve()
        try rig.change(Self.day, steps: 1)
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        // First the manifest, then the request for the rows.
        try rig.serve(2)
        try rig.change(Self.day + 1, steps: 9)
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        try rig.serve()
        #expect(
            rig.disk[Self.file]?.contains("2025-04-23") == true && rig.disk[Self.file]?.contains("2025-04-22") == true)
        #expect(try rig.frontier() == 2)
    }

    /// A file that keeps changing is still written, after a minute at most.
    @Test func aFileThatNeverSettlesIsWrittenAfterAMinute() throws {
        let rig = try Rig()
        try rig.serve()
        var waited = 0
        while rig.disk[Self.file] == nil, waited < 200 {
            waited += 1
            try rig.change(Self.day, steps: Int64(waited))
            try rig.stage.pass(.seconds(1))
            try rig.serve()
        }
        #expect((60...70).contains(waited), "\(waited) s")
    }

    @Test func whatSomebodyRemovedOrEditedIsFoundAtTheStart() throws {
        let rig = try Rig()
        try rig.serve()
        try rig.change(Self.day, steps: 1)
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        try rig.serve()
        let good = rig.disk[Self.file]
        for edit in [nil, "edited"] {
            rig.disk[Self.file] = edit
            rig.disk["user=you/days/year=2024.csv"] = "nobody's"
            try rig.stage.restart()
            try rig.hear()
            try rig.serve()
            try rig.stage.pass(.seconds(3))
            try rig.serve()
            #expect(good != nil && rig.disk[Self.file] == good)
            #expect(rig.disk["user=you/days/year=2024.csv"] == nil, "no such days are there")
            #expect(try rig.stage.report().details["backend"]?["missing"] == 1)
        }
    }

    @Test func aFullDiskIsSaidAndTriedAgain() throws {
        let rig = try Rig()
        try rig.serve()
        try rig.change(Self.day, steps: 1)
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        rig.problem = FileProblem("the disk is full")
        #expect(try rig.serve())
        #expect(try rig.stage.report().details["blocked"] == "the disk is full")
        #expect(try rig.frontier() == 0)
        for _ in 0..<20 {
            try rig.stage.pass(.seconds(1))
            try rig.serve()
        }
        #expect(rig.stage.effects.isEmpty, "it waits between two attempts")
        rig.problem = nil
        try rig.stage.pass(.seconds(60))
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        try rig.serve()
        #expect(try rig.stage.report().details["blocked"] ?? .null == .null)
        #expect(rig.disk[Self.file] != nil)
        #expect(try rig.frontier() == 1)
    }

    /// In another folder everything is written, and the folder is created, since nothing was ever written there.
    @Test func anotherFolderGetsEverything() throws {
        let rig = try Rig()
        try rig.serve()
        try rig.change(Self.day, steps: 1)
        try rig.stage.pass(.seconds(3))
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        try rig.serve()
        let files = rig.disk
        #expect(Set(files.keys) == [Self.file, Self.manifest])
        func start(in folder: String?) throws -> Bool? {
            rig.choice.folder = folder
            rig.written = []
            try rig.stage.restart()
            let list = rig.stage.effects.compactMap { $0.request as? ListFiles }.first
            try rig.hear()
            try rig.serve()
            try rig.stage.pass(.seconds(3))
            try rig.serve()
            return list?.makesFolder
        }
        #expect(try start(in: nil) == false, "the folder was used before")
        #expect(!rig.written.contains(Self.file))
        rig.disk = [:]
        #expect(try start(in: "/srv/health") == true)
        #expect(rig.written.contains(Self.file) && rig.disk[Self.file] == files[Self.file])
        #expect(try rig.frontier() == 1)
        #expect(try start(in: "/srv/health") == false)
        #expect(!rig.written.contains(Self.file))
    }

    /// With another format, the old files are replaced by new ones.
    @Test func anotherLayoutWritesEverythingAnew() throws {
        let rig = try Rig()
        try rig.serve()
        try rig.change(Self.day, steps: 1)
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        try rig.serve()
        #expect(Set(rig.disk.keys) == [Self.file, Self.manifest])
        rig.choice.layout = FilesLayout(["format": "ndjson"])
        try rig.stage.restart()
        try rig.hear()
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        try rig.serve()
        #expect(Set(rig.disk.keys) == ["user=me/days/year=2025.ndjson", Self.manifest])
        #expect(try rig.frontier() == 1)
    }
}
