import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// A folder that the observer takes files from automatically.
    @Suite struct InboxFolderTests {
        @Test func whatIsDroppedIsImportedAndMovedAwayAlsoWhenTheObserverIsKilled() async throws {
            try await withStack { stack in
                let folder = stack.path("in")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                func holds(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder + "/" + name) }
                let export = try await stack.generate("export.zip", "--days", "5", "--seed", "5")
                let up = try await stack.upAndReady("--inbox", folder)
                try FileManager.default.copyItem(atPath: export, toPath: folder + "/export.zip.part")
                try FileManager.default.moveItem(atPath: folder + "/export.zip.part", toPath: folder + "/export.zip")
                try await until("it is known") {
                    try await !(stack.onState("imports", "list", "--json").json()["imports"].array ?? []).isEmpty
                }
                if let pid = try stack.pid(of: "observer") { kill(pid, SIGKILL) }
                try await until("it is done") { holds("done/export.zip") && !holds("export.zip") }
                let report = try Value(
                    json: try #require(FileManager.default.contents(atPath: folder + "/done/export.zip.report.json")))
                #expect((report["read"].int ?? 0) > 100 && report["path"].string == folder + "/export.zip")
                try await until("its days are there", every: 100) {
                    try await !(stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []).isEmpty
                }

                let sound = try await stack.onState("doctor")
                #expect(!sound.output.contains("inbox"), "\(sound)")
                try FileManager.default.removeItem(atPath: folder)
                try await until("doctor reports it") {
                    try await stack.onState("doctor").output.contains("inbox folder")
                }
                #expect(try await stack.interrupt(up).exit == .code(0))
            }
        }

        @Test func aFolderThatIsNotThereIsRefusedWhenItIsNamed() async throws {
            try await withStack { stack in
                let up = try await stack.up("--inbox", stack.path("nowhere"))
                let ended = try await up.ended()
                #expect(ended.exit != .code(0) && ended.error.contains("isn't there"), "\(ended)")
                let reported = try await stack.onState("validate", environment: ["HEALTHBUS_INBOX": "/nowhere"])
                #expect(reported.output.contains("inbox folder"), "\(reported)")
            }
        }
    }
}
