import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// `healthbus imports` lists imports and takes them back, including at the backend.
    @Suite struct UndoTests {
        @Test func anImportIsListedAndTakenBack() async throws {
            try await withStack { stack in
                let first = try await stack.generate("first.zip", "--days", "6", "--seed", "5")
                let second = try await stack.generate("second.zip", "--days", "3", "--seed", "77")
                let up = try await stack.upAndReady()
                #expect(try await stack.onState("import", first).exit == .code(0))
                #expect(try await stack.onState("import", second).exit == .code(0))
                let listed = try await stack.onState("imports", "list", "--json").json()["imports"].array ?? []
                #expect(listed.map { ($0["path"].string ?? "").hasSuffix("second.zip") } == [true, false])
                let id = try #require(listed.first?["id"].string)
                let added = try #require(listed.first?["report"]["added"].int)
                let tried = try await stack.onState("imports", "undo", String(id.prefix(8)), "--dry-run", "--json")
                    .json()
                let taken = (tried["taken"].object ?? [:]).values.compactMap(\.int).reduce(0, +)
                #expect(tried["dryRun"] == true && taken > 0 && taken <= added, "\(tried) \(added)")
                let unasked = try await stack.onState("imports", "undo", id)
                #expect(unasked.exit == .code(2) && unasked.error.contains("--yes"), "\(unasked)")
                let done = try await stack.onState("imports", "undo", id, "--yes", "--json")
                #expect(done.exit == .code(0), "\(done)")
                #expect(try done.json()["taken"] == tried["taken"])
                let text = try await stack.onState("imports", "list")
                #expect(text.output.contains("taken back"), "\(text)")
                let again = try await stack.onState("imports", "undo", id, "--yes")
                #expect(again.exit != .code(0) && again.error.contains("already"), "\(again)")

                // The backend gets the same changes.
                #expect(try await stack.onState("sync").exit == .code(0))
                try await until("the backend holds what the store holds", every: 200) {
                    try await stack.onState("verify").exit == .code(0)
                }
                #expect(try await stack.onState("imports", "undo", "nothing").exit != .code(0))
                #expect(try await stack.interrupt(up).exit == .code(0))

                // On a stopped stack, the observer's program takes the import back.
                let older = try #require(listed.last?["id"].string)
                let stopped = try await stack.onState("imports", "undo", older, "--yes", "--json")
                #expect(stopped.exit == .code(0), "\(stopped)")
                #expect(!(try stopped.json()["taken"].object ?? [:]).isEmpty)
            }
        }
    }
}
