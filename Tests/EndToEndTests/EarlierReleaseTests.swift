import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// A stack left by an earlier release continues with this one as if nothing had happened.
    ///
    /// `Tests/Fixtures/earlier-release.tar.gz` is the state folder of a stopped stack that has read a day of a made-up
    /// person (`healthbus generate --days 1 --seed 4`) and delivered it, with `HEALTHBUS_AUDIT=1`.
    @Suite struct EarlierReleaseTests {
        private static let instances = [
            "observer", "debouncer", "steps", "heart-rate", "sleep", "energy", "workouts", "body", "generic",
            "consolidator", "uploader",
        ]

        /// How far each instance has read and written.
        private func places(_ stack: TestStack) throws -> [String: [String]] {
            try Dictionary(
                uniqueKeysWithValues: Self.instances.map { name in
                    let meta = try stack.rows(
                        name, "SELECT key || '=' || value FROM meta WHERE key <> 'epoch' ORDER BY key")
                    let hasCursors =
                        try stack.number(name, "SELECT count(*) FROM sqlite_master WHERE name = 'cursors'") == 1
                    let cursors =
                        hasCursors ? try stack.rows(name, "SELECT name || '=' || value FROM cursors ORDER BY name") : []
                    return (name, meta + cursors)
                })
        }

        @Test func itsStateGoesOn() async throws {
            try await withStack { stack in
                try await stack.unpack("earlier-release.tar.gz")
                #expect(FileManager.default.fileExists(atPath: stack.state + "/observer/state.sqlite"))
                let (content, before) = (try await StackContent(of: stack), try places(stack))
                #expect(!content.days.isEmpty && content.samples.count > 500 && content.delivered.count > 500)
                let up = try await stack.up("--until-idle").ended(within: 120)
                #expect(up.exit == .code(0), "\(up.error.suffix(2000))")
                #expect(try await StackContent(of: stack).withoutAdditions.differences(from: content) == [])
                let hours = "SELECT count(*) FROM hours WHERE steps > 0"
                #expect(try stack.number("backend", hours) > 0)
                // `hydration` has been added since, which is one more place to read from. Days now have their hours,
                // and nights say whose minutes they have, and both are delivered so. Nothing else has changed.
                let after = try places(stack)
                for (name, rows) in before {
                    let isNew: (String) -> Bool = { row in
                        row.hasPrefix("hydration=")
                            || (["consolidator", "sleep"].contains(name) && row.hasPrefix("last_sequence="))
                            || (["consolidator", "uploader"].contains(name) && row.hasPrefix("sleep="))
                            || (name == "uploader" && row.hasPrefix("consolidator="))
                    }
                    #expect((after[name] ?? []).filter { !isNew($0) } == rows.filter { !isNew($0) }, "\(name)")
                }
                #expect(!up.error.contains("anchor.reset") && !up.error.contains("backend.lacks"), "\(up.error)")
            }
        }
    }
}
