import Foundation
import Glibc
import HealthModel
import Processes
import SQLite
import Testing

extension EndToEnd {
    /// Copies of a stack at work, and what happens when one of them is restored.
    @Suite struct BackupTests {
        private func parts(_ stack: TestStack) async throws -> (early: String, all: String) {
            let export = try await stack.generate("whole.zip", "--days", "16", "--seed", "9")
            let pieces = try ExportPieces(of: export)
            let middle = pieces.days[pieces.days.count / 2]
            let early = stack.path("early.zip")
            try pieces.write(
                pieces.elements.filter { $0.day < middle }, exported: "2025-05-01 09:00:00 +0200", offset: "+0200",
                number: 1, to: early)
            return (early, export)
        }

        private func untilIdle(_ stack: TestStack, _ words: String...) async throws {
            let up = try await stack.start(
                ["up", "--until-idle", "--state", stack.state, "--zone", "Europe/Berlin"] + words
            )
            .ended(within: 120)
            try #require(up.exit == .code(0), "\(up.error.suffix(3000))")
        }

        @Test func anOlderBackupAndAnotherImportComeToTheSame() async throws {
            let expected = try await withStack { stack in
                try await untilIdle(stack, "--import", try await parts(stack).all)
                return try await StackContent(of: stack)
            }
            try await withStack { stack in
                let (early, all) = try await parts(stack)
                let up = try await stack.upAndReady()
                #expect(try await stack.onState("import", early).exit == .code(0))
                // The backup is made in the middle of the work that follows the import; nothing stops.
                let folder = stack.path("backup")
                let made = try await stack.onState("backup", folder, "--json")
                #expect(made.exit == .code(0), "\(made.error)")
                let manifest = try made.json()
                let names = (manifest["instances"].array ?? []).compactMap { $0["name"].string }
                #expect(names.first == "uploader" && names.last == "observer" && names.count >= 10, "\(names)")
                var status = stat()
                #expect(stat(folder + "/observer.sqlite", &status) == 0 && status.st_mode & 0o777 == 0o600)
                #expect(try Self.drafts(of: stack) == [])
                let again = try await stack.onState("backup", folder)
                #expect(again.exit == .code(1) && again.error.contains("isn't empty"), "\(again.error)")
                let held = try await stack.onState("restore", folder, "--yes")
                #expect(held.exit == .code(1) && held.error.contains("stop the stack"), "\(held.error)")

                // The stack continues, and delivers what isn't in the backup.
                #expect(try await stack.onState("import", all).exit == .code(0))
                try await until("all delivered", within: 60, every: 50) {
                    try stack.get("stats")["samples"]["alive"].int == Int64(expected.delivered.count)
                }
                try await stack.interrupt(up)
                let unasked = try await stack.onState("restore", folder)
                #expect(unasked.exit == .code(2) && unasked.error.contains("--yes"), "\(unasked.error)")
                let restored = try await stack.onState("restore", folder, "--yes")
                #expect(restored.exit == .code(0), "\(restored.error)")
                #expect(try stack.heldSamples().count < expected.samples.count)
                try await untilIdle(stack)
                try await untilIdle(stack, "--import", all)
                #expect(try await StackContent(of: stack).differences(from: expected) == [])
            }
        }

        /// Copies that a backup left behind in the folders where the stages write them.
        private static func drafts(of stack: TestStack) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: stack.state + "/backup").filter { $0 != "lock" }
        }

        private static func files(_ folder: String) -> Int {
            // The folder doesn't exist at first.
            (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
        }

        /// After a backup is killed partway, what is left isn't a backup, and `restore` reports that. No process of the
        /// stack is affected, and the next backup leaves no copies behind.
        @Test func aKilledBackupIsNoneAndTheNextOneIsWhole() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "10", "--seed", "2")
                try await untilIdle(stack, "--import", export)
                let before = try await StackContent(of: stack)
                let up = try await stack.upAndReady()
                let processes = Set(stack.processes)
                var unfinished = 0
                for count in [0, 1, 4, 9] {
                    let folder = stack.path("killed-\(count)")
                    let backup = try await stack.start(["backup", folder, "--state", stack.state])
                    try await until("\(count) copies", within: 30, every: 1) {
                        !backup.isRunning || Self.files(folder) >= max(1, count)
                    }
                    backup.child.kill()
                    _ = try await backup.ended()
                    // The backup had finished before the test killed it.
                    guard !FileManager.default.fileExists(atPath: folder + "/manifest.json") else { continue }
                    unfinished += 1
                    let refused = try await stack.onState("restore", folder, "--yes")
                    #expect(refused.exit == .code(3) && refused.error.contains("isn't a backup"), "\(refused.error)")
                }
                #expect(unfinished > 0)
                let folder = stack.path("whole")
                let made = try await stack.onState("backup", folder)
                #expect(made.exit == .code(0), "\(made.error)")
                #expect(try Self.drafts(of: stack) == [])
                #expect(Set(stack.processes) == processes, "\(up.error.suffix(2000))")
                try await stack.interrupt(up)
                try FileManager.default.removeItem(atPath: stack.state)
                #expect(try await stack.onState("restore", folder).exit == .code(0))
                try await untilIdle(stack)
                #expect(try await StackContent(of: stack).differences(from: before) == [])
            }
        }

        @Test func anEmptyStateIsFilledAndSoIsItsBackend() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "6", "--seed", "2")
                try await untilIdle(stack, "--import", export)
                let before = try await StackContent(of: stack)
                let folder = stack.path("backup")
                let made = try await stack.onState("backup", folder)
                #expect(made.exit == .code(0) && made.output.contains("Backed up"), "\(made)")
                try FileManager.default.removeItem(atPath: stack.state)
                let restored = try await stack.onState("restore", folder)
                #expect(restored.exit == .code(0), "\(restored.error)")
                try await untilIdle(stack)
                #expect(try await StackContent(of: stack).differences(from: before) == [])
            }
        }

        @Test func aDamagedBackupChangesNothing() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3")
                try await untilIdle(stack, "--import", export)
                let folder = stack.path("backup")
                #expect(try await stack.onState("backup", folder).exit == .code(0))
                let before = try stack.number("observer", "SELECT value FROM meta WHERE key = 'epoch'")
                let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder + "/observer.sqlite"))
                try file.seek(toOffset: 20_000)
                try file.write(contentsOf: Data("rot".utf8))
                try file.close()
                let damaged = try await stack.onState("restore", folder, "--yes")
                #expect(damaged.exit == .code(3) && damaged.error.contains("observer.sqlite"), "\(damaged.error)")
                #expect(try stack.number("observer", "SELECT value FROM meta WHERE key = 'epoch'") == before)
                #expect(!FileManager.default.fileExists(atPath: stack.state + "/uploader/state.sqlite.restored"))
                let none = try await stack.onState("restore", stack.folder)
                #expect(none.exit == .code(3) && none.error.contains("manifest.json"), "\(none.error)")
            }
        }
    }
}
