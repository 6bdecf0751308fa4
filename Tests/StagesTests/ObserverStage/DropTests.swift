import Changelog
import Foundation
import Glibc
import HealthImport
import HealthModel
import ObserverReading
import ObserverStage
import Protocol
import StageKit
import TestSupport
import Testing

/// Files dropped into the inbox folder: when they count as complete, what happens to them, and that each counts once.
@Suite struct DropTests {
    private let folder: TemporaryFolder
    private let drops: DropFolder

    init() throws {
        folder = try TemporaryFolder()
        drops = DropFolder(path: folder.path)
        #expect(drops.problem() == nil)
    }

    private func write(_ name: String, _ text: String = "x") throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path + "/" + name))
    }

    private func names(_ inner: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path + "/" + inner).sorted()
    }

    private func file(_ name: String) throws -> FileIdentity { try #require(drops.files()[name]) }

    // MARK: When a file is whole

    @Test func aFileIsDueOnceItHasStayedAsItIs() {
        var watch = DropWatch()
        func file(_ size: Int64) -> FileIdentity {
            FileIdentity(device: 1, inode: 2, size: size, modified: Instant(seconds: 5))
        }
        #expect(watch.look(["a.zip": file(1)], at: .seconds(10)).map(\.rest) == [.zero])
        #expect(watch.look(["a.zip": file(2)], at: .seconds(12)).map(\.rest) == [.zero])
        #expect(watch.look(["a.zip": file(2)], at: .seconds(15)).map(\.rest) == [.seconds(3)])
        watch.noteReported("a.zip")
        #expect(watch.look(["a.zip": file(2)], at: .seconds(20)).isEmpty)
        #expect(watch.look(["a.zip": file(3)], at: .seconds(22)).map(\.rest) == [.zero], "another file of its name")
        #expect(watch.look([:], at: .seconds(24)).isEmpty)
    }

    @Test(arguments: [
        ".hidden", "a.zip.part", "a.zip.tmp", "a.zip.icloud", ".syncthing.a.zip.tmp", "~syncthing~a.zip.tmp",
        "A.CRDOWNLOAD", "a.zip.filepart", "a.zip~",
    ]) func whatOthersWriteStillIsPassedOver(_ name: String) { #expect(DropWatch.isPassedOver(name)) }

    @Test(arguments: ["export.zip", "Export", "export.sync-conflict-20250101.zip", "part"])
    func everyOtherNameIsTaken(_ name: String) { #expect(!DropWatch.isPassedOver(name)) }

    @Test func theEndsOfAFileShowWhetherItIsWhole() throws {
        let export = "<?xml version=\"1.0\"?>\n<HealthData locale=\"de_DE\">\n</HealthData>\n"
        let stored = "PK\u{3}\u{4}" + String(repeating: "a", count: 40)
        func end(_ bytes: [UInt8]) throws -> ExportEnd? {
            try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/f"))
            return drops.end(of: "f", try file("f"))
        }
        #expect(try end(Array(export.utf8)) == .whole)
        #expect(try end(Array(export.dropLast(5).utf8)) == .open)
        #expect(try end([]) == .open)
        #expect(try end(Array("Dear diary".utf8)) == .foreign)
        #expect(try end(Array("bvx2....".utf8)) == .foreign && end(Array(#"{"samples":[]}"#.utf8)) == .foreign)
        let json = "{ \"data\" : {\"metrics\":[\(String(repeating: " ", count: 5000))]}}\n"
        #expect(try end(Array(json.utf8)) == .whole && end(Array(json.dropLast(3).utf8)) == .open)
        #expect(try end(Array(stored.utf8)) == .open)
        func archive(directoryAt offset: UInt8) -> [UInt8] {
            Array(stored.utf8) + [0x50, 0x4B, 1, 2] + [0x50, 0x4B, 5, 6, 0, 0, 0, 0, 1, 0, 1, 0, 4, 0, 0, 0]
                + [offset, 0, 0, 0, 0, 0]
        }
        #expect(try end(archive(directoryAt: 44)) == .whole)
        #expect(try end(archive(directoryAt: 12)) == .open, "an end without a directory")
    }

    @Test func onlyFilesThatAreFilesAreSeen() throws {
        try write("export.zip")
        #expect(symlink(folder.path + "/export.zip", folder.path + "/link.zip") == 0)
        #expect(mkfifo(folder.path + "/pipe.zip", 0o600) == 0)
        #expect(drops.files().keys.sorted() == ["export.zip"])
        let wrong = FileIdentity(device: 1, inode: 1, size: 1, modified: Instant(seconds: 1))
        let seen = try file("export.zip")
        #expect(drops.dropped("export.zip", wrong) == nil && drops.dropped("link.zip", seen) == nil)
        #expect(drops.dropped("export.zip", seen)?.hash.count == 16)
    }

    // MARK: Moved out

    private func settlement(_ name: String, isDone: Bool = true, _ report: String = "{}") throws -> DropSettlement {
        DropSettlement(
            folder: folder.path, name: name, file: try file(name), isDone: isDone, report: Array(report.utf8))
    }

    @Test func aMovedFileNeverTakesAnothersPlace() throws {
        for number in 1...3 {
            try write("export.zip", "\(number)")
            #expect(drops.settle(try settlement("export.zip", "{\"n\":\(number)}")) == .settled(name: "export.zip"))
        }
        let moved = ["export 2.zip", "export 3.zip", "export.zip"]
        #expect(try names("done") == moved.flatMap { [$0, $0 + ".report.json"] }.sorted())
        #expect(try String(contentsOfFile: folder.path + "/done/export 2.zip", encoding: .utf8) == "2")
        #expect(
            try String(contentsOfFile: folder.path + "/done/export 3.zip.report.json", encoding: .utf8) == "{\"n\":3}")
        try write("note", "4")
        #expect(drops.settle(try settlement("note", isDone: false)) == .settled(name: "note"))
        #expect(try names("failed") == ["note", "note.report.json"])
        #expect(drops.files().isEmpty)
    }

    /// The process is killed after the report is written, between the two halves of the move.
    @Test func aMoveThatWasInterruptedEndsAsOneFile() throws {
        try write("a.zip")
        try write("done/a.zip.report.json", "{\"a\":1}")
        #expect(drops.settle(try settlement("a.zip", "{\"a\":1}")) == .settled(name: "a.zip"))
        #expect(try names("done") == ["a.zip", "a.zip.report.json"])
        #expect(link(folder.path + "/done/a.zip", folder.path + "/a.zip") == 0)
        #expect(drops.settle(try settlement("a.zip", "{\"a\":1}")) == .settled(name: "a.zip"))
        #expect(try names("done") == ["a.zip", "a.zip.report.json"] && drops.files().isEmpty)
    }

    @Test func aFileThatWasReplacedStays() throws {
        try write("a.zip", "old")
        let old = try settlement("a.zip")
        try write("a.zip", "a newer one")
        #expect(drops.settle(old) == .settled(name: "a.zip"))
        #expect(try drops.files().keys.sorted() == ["a.zip"] && names("done").isEmpty)
    }

    @Test func aFolderThatIsNotThereIsReported() throws {
        #expect(DropFolder(path: folder.path + "/nowhere").problem()?.contains("isn't there") == true)
        #expect(DropFolder(path: "here").problem()?.contains("isn't absolute") == true)
        try write("file")
        #expect(DropFolder(path: folder.path + "/file").problem()?.contains("isn't a folder") == true)
    }

    // MARK: The stage

    private func rig() throws -> StageRig<ObserverStage> {
        let path = folder.path
        return try StageRig {
            ObserverStage(instance: "observer", zone: "Europe/Berlin", defaultUser: "me", inbox: path)
        }
    }

    private func find(_ rig: StageRig<ObserverStage>, _ name: String, hash: UInt8 = 7, inode: Int64 = 1) throws {
        let file = FileIdentity(device: 1, inode: inode, size: 9, modified: Instant(seconds: 5))
        let dropped = DroppedFile(
            name: name, path: folder.path + "/" + name, file: file, hash: [UInt8](repeating: hash, count: 16))
        try rig.reply(Effect(id: 1, request: 0), DropEvent.found(dropped))
    }

    private func imports(_ rig: StageRig<ObserverStage>) throws -> [ImportRow] {
        var rows: [ImportRow] = []
        try ObserverSource(database: rig.store.database).answer(
            Question(.imports()), for: nil, head: rig.store.head
        ) { page, _ in rows += (page as? ImportsPage)?.imports ?? [] }
        return rows
    }

    private func asked(_ rig: StageRig<ObserverStage>, _ wanted: (ObserverEffect) -> Bool) throws -> Effect {
        try #require(rig.effects.last { ($0.request as? ObserverEffect).map(wanted) == true })
    }

    private func finish(_ rig: StageRig<ObserverStage>) throws {
        let row = try #require(try imports(rig).first)
        try rig.reply(
            try asked(rig) { if case .adopt = $0 { true } else { false } }, FileStep.adopted(id: row.id))
        let read = try asked(rig) { if case .read = $0 { true } else { false } }
        try rig.reply(read, ImportEvent.finished(ReadSummary()))
    }

    private func settlements(_ rig: StageRig<ObserverStage>) -> [DropSettlement] {
        rig.effects.compactMap { if case .settle(let move)? = $0.request as? ObserverEffect { move } else { nil } }
    }

    @Test func aDroppedFileIsImportedOnceWhateverIsKilled() throws {
        let rig = try rig()
        try find(rig, "a.zip")
        #expect(try imports(rig).map(\.path) == [folder.path + "/a.zip"])
        // The process is killed before the file is adopted: the folder is checked again.
        try rig.restart()
        try find(rig, "a.zip")
        #expect(try imports(rig).count == 1)
        try finish(rig)
        // The process is killed before the file is moved.
        try rig.restart()
        let move = try #require(settlements(rig).first)
        #expect(try move.isDone && move.name == "a.zip" && Value(json: move.report)["read"] == 0)
        let effect = try asked(rig) { if case .settle = $0 { true } else { false } }
        try rig.reply(effect, DropEvent.unsettled(name: "a.zip", reason: "no room"))
        #expect(settlements(rig).isEmpty)
        try rig.pass(.seconds(61))
        try rig.reply(
            try asked(rig) { if case .settle = $0 { true } else { false } }, DropEvent.settled(name: "a.zip"))
        try rig.restart()
        #expect(settlements(rig).isEmpty)
        // The same content under another name: it has already been imported.
        try find(rig, "b.zip", inode: 2)
        #expect(try imports(rig).count == 1 && settlements(rig).map(\.name) == ["b.zip"])
        try find(rig, "c.zip", hash: 8, inode: 3)
        #expect(try imports(rig).count == 2)
    }

    @Test func whatCannotBeReadGoesToFailedAndMayBeTriedAgain() throws {
        let rig = try rig()
        try find(rig, "a.zip")
        let row = try #require(try imports(rig).first)
        try rig.reply(
            try asked(rig) { if case .adopt = $0 { true } else { false } },
            FileStep.failed(id: row.id, reason: "no room"))
        let move = try #require(settlements(rig).first)
        #expect(try !move.isDone && Value(json: move.report)["problem"] == "no room")
        try find(rig, "a.zip", inode: 2)
        #expect(try imports(rig).map(\.id) == [row.id + "-2", row.id])
    }

    @Test func troubleWithTheFolderIsReported() throws {
        let rig = try rig()
        try rig.reply(Effect(id: 1, request: 0), DropEvent.trouble("'/x' isn't there"))
        #expect(try rig.report().details.contents?.problem == "'/x' isn't there")
        try rig.reply(Effect(id: 1, request: 0), DropEvent.trouble(nil))
        #expect(try rig.report().details.contents?.path == folder.path)
    }
}

extension HeartbeatDetails {
    fileprivate var contents: ObserverDetails.Inbox? { Value(self).object?["inbox"]?.read() }
}
