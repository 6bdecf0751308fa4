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
    private static let manifest = FilesRig.manifest

    private static let day: Int64 = 20_200

    @Test func aChangeIsWrittenOnceItHasSettledAndTheManifestSaysSo() throws {
        let rig = try FilesRig()
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
            let rig = try FilesRig()
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
        let rig = try FilesRig()
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
        let rig = try FilesRig()
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
        let rig = try FilesRig()
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

    /// A sync hears of nothing until the files that were removed, and the manifest, are there again.
    @Test func aSyncWritesWhatIsMissingAtOnce() throws {
        let rig = try FilesRig()
        try rig.serve()
        try rig.change(Self.day, steps: 1)
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        try rig.serve()
        #expect(rig.disk[Self.file] != nil)
        for path in [Self.file, Self.manifest] {
            rig.disk[path] = nil
            rig.written = []
            try rig.stage.hear("control.files", .object(CompareBackend(id: path, send: true).body))
            while rig.disk[Self.file] == nil || rig.disk[Self.manifest] == nil,
                !rig.stage.effects.isEmpty || !rig.stage.pulls.isEmpty
            {
                #expect(try rig.stage.report().details["backend"]?["isCompared"] == false)
                try rig.serve(1)
            }
            try rig.serve()
            #expect(rig.disk[Self.file] != nil && rig.disk[Self.manifest]?.contains("\"complete\": true") == true)
            #expect(try rig.stage.report().details["backend"]?["missing"] == 1)
            #expect(rig.written.last == Self.manifest && rig.written.contains(Self.file) == (path == Self.file))
        }
    }

    /// A full or read-only disk can be listed, and one that is nearly full has room for the manifest.
    @Test(arguments: [true, false]) func aFullDiskIsSaidAndTriedAgain(hasRoomForManifest: Bool) throws {
        let rig = try FilesRig()
        rig.fails = { request in
            guard let part = request as? FilePart else { return false }
            return part.path != Self.manifest || !hasRoomForManifest
        }
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
        for _ in 0..<15 {
            try rig.stage.pass(.seconds(60))
            try rig.serve()
        }
        #expect(rig.stage.log.count("upload.retry") == 1, "it is said once")
        #expect(rig.stage.log.count("alert.raised") == 1)
        rig.problem = nil
        try rig.stage.pass(.seconds(60))
        try rig.serve()
        try rig.stage.pass(.seconds(3))
        try rig.serve()
        #expect(try rig.stage.report().details["blocked"] ?? .null == .null)
        #expect(rig.stage.log.count("alert.cleared") == 1)
        #expect(rig.disk[Self.file] != nil)
        #expect(try rig.frontier() == 1)
    }

    /// A folder that is back blocks nothing, even if there is nothing to write yet.
    @Test func aFolderThatIsBackBlocksNothing() throws {
        let rig = try FilesRig()
        try rig.serve()
        rig.problem = FileProblem("the folder is gone")
        try rig.stage.restart()
        try rig.serve()
        #expect(try rig.stage.report().details["blocked"] == "the folder is gone")
        rig.problem = nil
        try rig.stage.pass(.seconds(2))
        try rig.serve()
        #expect(try rig.stage.report().details["blocked"] ?? .null == .null)
    }

    /// In another folder everything is written, and the folder is created, since nothing was ever written there.
    @Test func anotherFolderGetsEverything() throws {
        let rig = try FilesRig()
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
    @Test func anotherLayoutWritesEverythingAgain() throws {
        let rig = try FilesRig()
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
