import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// From `plugins new` to a custom figure in `days`, as described in docs/first-plugin.md.
    @Suite struct PluginsCommandTests {
        /// Every command of the page, in order, except those that change the current folder.
        @Test func theFirstPluginsPageWorksAsItStands() async throws {
            let page = try String(
                contentsOfFile: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                    .deletingLastPathComponent().appending(path: "docs/first-plugin.md").path, encoding: .utf8)
            let blocks = page.components(separatedBy: "```").filter { $0.hasPrefix("sh\n") || $0.hasPrefix("python\n") }
            #expect(blocks.count == 6)
            try await withStack { stack in
                // Without this, the page would use the real state folder of this machine.
                let environment = ["HEALTHBUS_STATE": stack.state, "PATH": "\(Programs.folder):/usr/bin:/bin"]
                let handler = stack.path("walks/handler.py")
                for block in blocks where !block.contains("make build") {
                    let text = block.split(separator: "\n", maxSplits: 1)[1]
                    if block.hasPrefix("python\n") {
                        // The change that the page asks its reader to make.
                        var program = try String(contentsOfFile: handler, encoding: .utf8)
                        let start = try #require(program.range(of: "def compute")).lowerBound
                        let end = try #require(program.range(of: "\n\ndef say")).lowerBound
                        program.replaceSubrange(start..<end, with: text)
                        try program.write(toFile: handler, atomically: true, encoding: .utf8)
                        continue
                    }
                    let script = try stack.write("block.sh", "set -e\ncd \(stack.folder)\n" + text)
                    let ended = try await stack.start(program: "/bin/sh", [script], environment: environment)
                        .ended(within: 240)
                    #expect(
                        ended.exit == .code(0), "\(block)\n\(ended.output.suffix(3000))\n\(ended.error.suffix(3000))")
                }
                let days = try await stack.start(
                    ["days", "--json", "--from", "1990-01-01", "--state", stack.state]
                ).ended().json()
                let figures = (days.array ?? []).compactMap { $0["longestWalkMinutes"].double }
                #expect(figures.count >= 20 && figures.allSatisfy { $0 > 0 }, "\(days.json().prefix(500))")
                #expect((days.array ?? []).contains { $0["steps"].double != nil })
            }
        }

        /// Every command of docs/plugin-fixtures.md, in an empty folder.
        @Test func theFixturesPageWorksAsItStands() async throws {
            let page = try String(contentsOfFile: Programs.checkout + "/docs/plugin-fixtures.md", encoding: .utf8)
            let blocks = page.components(separatedBy: "```").filter { $0.hasPrefix("sh\n") }
            #expect(blocks.count == 2)
            try await withStack { stack in
                let environment = ["PATH": "\(Programs.folder):/usr/bin:/bin"]
                for block in blocks {
                    let script = try stack.write("block.sh", "set -e\ncd \(stack.folder)\n" + block.dropFirst(3))
                    let ended = try await stack.start(program: "/bin/sh", [script], environment: environment)
                        .ended(within: 240)
                    #expect(ended.exit == .code(0) && !ended.output.contains("\n<"), "\(block)\n\(ended)")
                }
                let days = try Value(
                    json: try String(contentsOfFile: stack.path("walks/fixtures/person.days.json"), encoding: .utf8)
                        .utf8)
                #expect((days.array ?? []).contains { $0["walks"].double != nil })
                // The test on the page notices if a handler computes something else.
                let handler = stack.path("walks/handler.py")
                let program = try String(contentsOfFile: handler, encoding: .utf8)
                try program.replacingOccurrences(of: "end - start < least", with: "False")
                    .write(toFile: handler, atomically: true, encoding: .utf8)
                let begin = "healthbus plugins new walks\n"
                #expect(blocks[0].contains(begin))
                let again = blocks[0].dropFirst(3).replacingOccurrences(of: begin, with: "")
                let script = try stack.write("again.sh", "set -e\ncd \(stack.folder)\n" + again)
                let wrong = try await stack.start(program: "/bin/sh", [script], environment: environment).ended()
                #expect(wrong.exit == .code(1) && wrong.output.contains("[1, 2]"), "\(wrong)")
            }
        }

        @Test func aNewPythonHandlerKeepsTheContract() async throws {
            try await withStack { stack in
                let new = try await stack.run(
                    "plugins", "new", "my-hours", "--types", "HKQuantityTypeIdentifierDietaryCaffeine", "--types",
                    "HKQuantityTypeIdentifierStepCount", "--output", stack.path("mine"), "--json")
                #expect(try new.json()["figure"] == "myHours")
                let manifest = try Value(
                    json: try String(contentsOfFile: stack.path("mine/plugin.json"), encoding: .utf8).utf8)
                // Types that belong to another handler are only read.
                #expect(manifest["types"] == ["HKQuantityTypeIdentifierDietaryCaffeine"])
                #expect(manifest["reads"] == ["HKQuantityTypeIdentifierStepCount"])
                let valid = try await stack.run("plugins", "validate", stack.path("mine"), "--json")
                #expect(try valid.json()["valid"] == true && valid.exit == .code(0))
                let test = try await stack.run("plugins", "test", stack.path("mine"), "--json", within: 200)
                #expect(try test.exit == .code(0) && test.json()["passed"] == 25, "\(test.output)")
                let again = try await stack.run("plugins", "new", "more", "--output", stack.path("mine"))
                #expect(again.exit == .code(2) && again.error.contains("already exists"))
            }
        }

        @Test func aNewSwiftHandlerIsBuiltByItsScriptAndKeepsTheContract() async throws {
            try await withStack { stack in
                let new = try await stack.run(
                    "plugins", "new", "my-hours", "--language", "swift", "--output", stack.path("mine"))
                #expect(new.exit == .code(0) && new.output.contains("build.sh"), "\(new.error)")
                // A plugin that isn't built yet is reported as such before anything is tried.
                let early = try await stack.run("plugins", "test", stack.path("mine"))
                #expect(early.exit == .code(2) && early.error.contains("isn't a file that can be run"))
                let build = try await stack.start(program: stack.path("mine/build.sh"), []).ended(within: 120)
                #expect(build.exit == .code(0), "\(build.output)\(build.error)")
                let test = try await stack.run("plugins", "test", stack.path("mine"), "--json", within: 200)
                #expect(try test.exit == .code(0) && test.json()["passed"] == 25, "\(test.output)")
            }
        }

        private static let node: String? = ["/usr/bin/node", "/usr/local/bin/node"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }

        @Test(.enabled(if: node != nil, "there is no node: apt-get install nodejs"))
        func aNewNodeHandlerKeepsTheContract() async throws {
            try await withStack { stack in
                let new = try await stack.run(
                    "plugins", "new", "my-hours", "--language", "node", "--output", stack.path("mine"))
                #expect(new.exit == .code(0) && new.output.contains("handler.js"), "\(new.error)")
                let test = try await stack.run("plugins", "test", stack.path("mine"), "--json", within: 200)
                #expect(try test.exit == .code(0) && test.json()["passed"] == 25, "\(test.output)")
                // An uncaught error is reported with its line, once for all the cases that fail because of it.
                let handler = stack.path("mine/handler.js")
                let program = try String(contentsOfFile: handler, encoding: .utf8)
                    .replacingOccurrences(of: "const counts = day.hours.map", with: "const counts = day.ours.map")
                try program.write(toFile: handler, atomically: true, encoding: .utf8)
                let broken = try await stack.run("plugins", "test", stack.path("mine"))
                let line = try #require(
                    program.split(separator: "\n", omittingEmptySubsequences: false).firstIndex {
                        $0.contains("day.ours")
                    }
                )
                let why =
                    "TypeError: Cannot read properties of undefined (reading 'map') (handler.js, line \(line + 1))"
                #expect(
                    broken.exit == .code(1) && broken.output.components(separatedBy: why).count == 2, "\(broken.output)"
                )
            }
        }

        @Test(arguments: ["steps", "sleep", "steps-python", "consolidator"])
        func shippedPluginsKeepTheContract(_ name: String) async throws {
            try await withStack { stack in
                let test = try await stack.run("plugins", "test", name, "--json", within: 200)
                #expect(test.exit == .code(0), "\(test.output)\n\(test.error)")
                #expect(try test.json()["failed"] == 0)
            }
        }

        @Test func aBrokenOneIsNamedAndEndsWith1() async throws {
            try await withStack { stack in
                try FileManager.default.createDirectory(
                    atPath: stack.path("mine"), withIntermediateDirectories: true)
                _ = try stack.write("mine/handler.py", "print('hello')\n")
                _ = try stack.write(
                    "mine/plugin.json",
                    """
                    { "name": "mine", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler",
                      "exec": ["python3", "handler.py"], "entitlements": ["health"],
                      "types": ["HKQuantityTypeIdentifierDietaryCaffeine"] }
                    """)
                let test = try await stack.run("plugins", "test", stack.path("mine"))
                #expect(test.exit == .code(1))
                #expect(test.error.contains("mine breaks the contract: hello"))
                #expect(test.output.contains("hello failed: line 1 of the program's answer isn't JSON"))
                #expect(test.output.contains("  received hello\n"))
                let one = try await stack.run("plugins", "test", stack.path("mine"), "--only", "piece")
                #expect(one.exit == .code(2) && one.error.contains("did you mean pieces?"))
            }
        }

        @Test func listAndShowSayWhatThereIs() async throws {
            try await withStack { stack in
                let list = try await stack.run("plugins", "list", "--json").json()
                let plugins = try #require(list.array)
                #expect(plugins.count >= 15)
                let steps = try #require(plugins.first { $0["name"] == "steps" })
                #expect(steps["instances"] == ["steps"] && steps["restart"] == "always")
                #expect(try await stack.run("plugins", "show", "steps", "--json").json() == steps)
                let table = try await stack.run("plugins", "show", "uploader")
                let options = table.output.split(separator: "\n").map { $0.split(separator: " ").prefix(3) }
                #expect(options.contains(["timeoutSeconds", "number", "30"]), "\(table.output)")
                let unknown = try await stack.run("plugins", "show", "stepss")
                #expect(unknown.exit == .code(2) && unknown.error.contains("did you mean steps?"))
            }
        }
    }
}
