import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// Unusable input is refused with a message about what happened and what to do; existing data isn't lost.
    @Suite struct BadInputTests {
        @Test func badFiles() async throws {
            try await withStack { stack in
                let good = try await stack.generate("good.zip", "--days", "5")
                let first = try await stack.up("--import", good, "--until-idle").ended()
                #expect(first.exit == .code(0), "\(first.error)")
                #expect(
                    first.error.hasSuffix("Everything is delivered, and every past day is final.\n"), "\(first.error)")
                let content = try await StackContent(of: stack)

                let up = try await stack.upAndReady()
                for (name, said) in try Self.badFiles(in: stack) {
                    let ended = try await stack.onState("import", stack.path(name))
                    #expect(ended.exit == .code(1), "\(name): \(ended.error)")
                    #expect(ended.error.contains(said), "\(name): \(ended.error)")
                    // The error names the file as its owner knows it.
                    #expect(ended.error.contains(stack.path(name)) && !ended.error.contains("inbox"), "\(ended.error)")
                    #expect(ended.output.isEmpty, "\(name): \(ended.output)")
                }
                try await Self.noRights(stack, good)
                try await stack.interrupt(up)
                #expect(try await StackContent(of: stack).differences(from: content) == [])
                #expect(try FileManager.default.contentsOfDirectory(atPath: stack.state + "/observer/inbox") == [])
            }
        }

        /// The file's name, and what the error reports about it.
        private static func badFiles(in stack: TestStack) throws -> [(String, String)] {
            _ = try stack.write("text.zip", "these are words\n")
            _ = try stack.write("nothing.zip", "")
            // Only the end record of a central directory, with nothing before it.
            _ = try stack.write("empty.zip", "PK\u{5}\u{6}" + String(repeating: "\0", count: 18))
            try Archive.write(["a/photo.txt": "x", "b.txt": "y"], to: stack.path("other.zip"))
            let clinical =
                "<?xml version=\"1.0\"?>\n<ClinicalDocument xmlns=\"urn:hl7-org:v3\"><title/></ClinicalDocument>"
            _ = try stack.write("export_cda.xml", clinical)
            try Archive.write(["apple_health_export/export_cda.xml": clinical], to: stack.path("cda.zip"))
            try FileManager.default.createDirectory(atPath: stack.path("folder"), withIntermediateDirectories: false)
            return [
                ("text.zip", "neither a zip archive nor an Apple Health export"), ("nothing.zip", "is empty"),
                ("empty.zip", "contains no file"), ("other.zip", "contains no Apple Health export"),
                ("export_cda.xml", "clinical document"), ("cda.zip", "clinical document"),
                ("folder", "is a folder"), ("nowhere.zip", "doesn't exist"),
            ]
        }

        /// A user who isn't allowed to read a file gets a message about that. Since root may read everything, the test
        /// uses a different user.
        private static func noRights(_ stack: TestStack, _ good: String) async throws {
            guard chmod(good, 0o000) == 0 else { throw HarnessError("chmod") }
            defer { chmod(good, 0o600) }
            guard getuid() == 0 else {
                let ended = try await stack.onState("import", good)
                #expect(ended.exit == .code(1) && ended.error.contains("can't be read"), "\(ended.error)")
                return
            }
            guard access("/usr/bin/setpriv", X_OK) == 0 else { return }
            guard chmod(stack.folder, 0o711) == 0 else { throw HarnessError("chmod") }
            let ended = try await stack.start(
                program: "/usr/bin/setpriv",
                [
                    "--reuid=65534", "--regid=65534", "--clear-groups", Programs.healthbus, "import", good, "--state",
                    stack.state,
                ]
            ).ended()
            // This can't be tested if the programs were built in a folder that only root can read.
            guard !ended.error.contains("failed to execute") else { return }
            #expect(ended.exit == .code(1) && ended.error.contains("can't be read"), "\(ended.error)")
        }

        /// Everything before the damage is kept, and importing the intact file adds the rest.
        @Test func damagedFiles() async throws {
            try await withStack { stack in
                let good = try await stack.generate("good.zip", "--days", "10")
                let zip = try #require(FileManager.default.contents(atPath: good))
                try zip.prefix(zip.count * 6 / 10).write(to: URL(fileURLWithPath: stack.path("cut.zip")))
                let text = try Archive.entry("/export.xml", of: good)
                try Data(text[..<(text.count / 2)]).write(to: URL(fileURLWithPath: stack.path("cut.xml")))
                try Data(text).write(to: URL(fileURLWithPath: stack.path("export.xml")))

                let cut = try await stack.up("--import", stack.path("cut.xml"), "--until-idle", "--json").ended()
                #expect(cut.exit == .code(3), "\(cut.error)")
                #expect(cut.error.contains("is damaged") && cut.error.contains("hint:"), "\(cut.error.suffix(500))")
                let half = try #require(try cut.json()["files"].array?.first)
                #expect((half["added"].int ?? 0) > 3000, "\(half)")
                #expect(half["problem"].string != nil)
                let kept = try stack.heldSamples().map(\.id)
                #expect(kept.count == Int(half["added"].int ?? 0))

                let up = try await stack.upAndReady()
                let zipped = try await stack.onState("import", "--json", stack.path("cut.zip"))
                #expect(zipped.exit == .code(3), "\(zipped.error)")
                #expect((try zipped.json()["files"].array?.first?["read"].int ?? 0) > 3000)
                let whole = try await stack.onState("import", "--json", stack.path("export.xml"))
                #expect(whole.exit == .code(0), "\(whole.error)")
                try await stack.interrupt(up)
                let all = try stack.heldSamples().map(\.id)
                #expect(Set(kept).isSubset(of: all))
                #expect(all.count > kept.count)
                let read = Int(try whole.json()["files"].array?.first?["read"].int ?? 0)
                // Some of a correlation's children are reported twice.
                #expect(all.count <= read && all.count > read * 9 / 10, "\(all.count) of \(read)")
            }
        }

        @Test func secondStackAndPortInUse() async throws {
            try await withStack { stack in
                let missing = try await stack.up("--import", stack.path("nowhere.zip"), "--until-idle").ended()
                #expect(missing.exit == .code(1))
                #expect(missing.error.contains("doesn't exist") && missing.error.contains("hint:"), "\(missing.error)")

                let up = try await stack.upAndReady()
                let second = try await stack.up("--until-idle").ended()
                #expect(second.exit == .code(1))
                #expect(second.error.contains("a stack is already running in \(stack.state)"), "\(second.error)")
                #expect(second.error.contains("'healthbus stop --state \(stack.state)'"), "\(second.error)")
                #expect(up.isRunning)

                // A second stack would use the same port as the first stack's backend; this is reported before anything
                // is started.
                let elsewhere = try await stack.start(
                    ["up", "--state", stack.path("e")], environment: ["HEALTHBUS_INGEST_PORT": "0"]
                ).ended()
                #expect(elsewhere.exit == .code(1), "\(elsewhere.error)")
                #expect(elsewhere.error.contains("'backend' can't start"), "\(elsewhere.error.suffix(2000))")
                #expect(elsewhere.error.contains("\(stack.port)"), "\(elsewhere.error.suffix(2000))")
                #expect(elsewhere.error.contains("the stack in \(stack.state) (process "), "\(elsewhere.error)")
                #expect(elsewhere.error.contains("'healthbus stop --state \(stack.state)'"), "\(elsewhere.error)")
                #expect(elsewhere.error.contains("HEALTHBUS_BACKEND_PORT="), "\(elsewhere.error)")
                #expect(elsewhere.error.split(separator: "\n").count <= 4, "\(elsewhere.error)")
                #expect(!FileManager.default.fileExists(atPath: stack.path("e") + "/backend"))
                #expect(processes(naming: stack.path("e") + "/").isEmpty && processes(naming: stack.path("e")).isEmpty)
                try await stack.interrupt(up)
            }
        }

        @Test(arguments: [
            (
                "{ \"instances\": { \"steps\": { \"plugin\": \"steps\", \"color\": 1 } } }", "'instances.steps.color'",
                "use one of configuration, plugin"
            ),
            ("{ \"instancess\": {} }", "'instancess'", "use one of bus, instances"),
            (
                "{ \"instances\": { \"steps\": { \"plugin\": \"stepz\" } } }", "'instances.steps.plugin'",
                "must be one of backend, body"
            ),
            (
                "{ \"instances\": { \"debouncer\": { \"configuration\": { \"windowSeconds\": \"soon\" } } } }",
                "'instances.debouncer.configuration.windowSeconds'", "must be a number"
            ),
            (
                "{ \"instances\": { \"debouncer\": { \"configuration\": { \"windowSeconds\": 9e9 } } } }",
                "'instances.debouncer.configuration.windowSeconds'", "must be at most 3600"
            ),
            (
                "{ \"instances\": { \"debouncer\": { \"configuration\": { \"window\": 1 } } } }",
                "'instances.debouncer.configuration.window'", "windowSeconds"
            ),
            ("{ \"instances\": ", "isn't JSON", ""),
        ]) func badConfiguration(_ text: String, _ key: String, _ allowed: String) async throws {
            try await withStack { stack in
                let file = try stack.write("stack.json", text)
                let ended = try await stack.up("--config", file, "--until-idle").ended()
                #expect(ended.exit == .code(2), "\(ended.error)")
                for part in [file, key, allowed] where !part.isEmpty {
                    #expect(ended.error.contains(part), "\(part) in \(ended.error)")
                }
                #expect(!FileManager.default.fileExists(atPath: stack.state + "/observer"))
            }
        }
    }
}
