import Configuration
import Conformance
import Foundation
import TestSupport
import Testing

/// Each case finds its fault in a plugin of a few lines of Python that breaks exactly one rule.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct BrokenPluginTests {
    @Test func anHonestOnePasses() async throws {
        let plugin = try ScriptedPlugin()
        let report = try await plugin.report(.lines)
        #expect(report.failed == [] && report.passed == 12, "\(report.json)")
    }

    /// Changes to the correct program, each with the case that should find it and some words of the reason.
    static let faults: [(String, String, String, String)] = [
        // hello
        (#"say({"hello""#, #"import time; time.sleep(9); say({"hello""#, "hello", "no answer within"),
        (#"say({"hello""#, #"print("ready", flush=True); say({"hello""#, "hello", "isn't JSON"),
        (#""name": "test""#, #""name": "tset""#, "hello", "'hello.name' must be 'test'"),
        (
            #"say({"hello""#, #"sys.stdout.write("{\"hel"); sys.exit(3); say({"hello""#, "hello",
            "in the middle of line 1"
        ),
        (
            #""protocol": 1"#, #""protocol": line["hello"]["protocol"]["max"]"#, "protocol-range",
            "claims to speak protocol 99"
        ),
        // lines in
        (
            "line = json.loads(text)", "line = json.loads(text); assert len(line) == 1", "unknown-members",
            "ended (exit code 1)"
        ),
        (
            "for text in sys.stdin.buffer:", "import os\nwhile text := os.read(0, 65536):", "pieces",
            "ended (exit code 1)"
        ),
        // days
        (
            "day, count = line[\"day\"], 0", "day, count = line[\"day\"], globals().get('count', 0)", "same-day-twice",
            "figures.n is"
        ),
        ("count += 1", "count += seen.setdefault(start, len(seen) + 1)", "other-order", "in reverse order"),
        ("count += 1", "count += random.random()", "fresh-program", "from the previous program"),
        ("if count:", "if True:", "empty-day", "gives 'n' for a day without samples"),
        ("[count] * len(day[\"hours\"])", "[count] * 24", "clock-changes", "has 24 entries; that day has 23 hours"),
        ("count += 1", "count += 1 + value * 0", "odd-values", "ended (exit code 1)"),
        ("count += 1", "count += 1; value is None or 1 / (end - start)", "odd-values", "ended (exit code 1)"),
        ("count += 1", "count += 1; pages.append(value); pages.sort(); sum(pages)", "many-rows", "no answer within"),
        (
            "import json, random, sys", "import json, random, sys, atexit, time; atexit.register(time.sleep, 9)",
            "end-of-input", "still running 2 s after"
        ),
        (
            "import json, random, sys", "import json, random, sys, atexit, os; atexit.register(os._exit, 4)",
            "end-of-input", "ended with exit code 4"
        ),
        // answers
        (#"say({"done": day["date"]"#, #"say({"done": "2025-01-01""#, "same-day-twice", "another day"),
        (
            #"say({"done": day["date"]"#, #"say({"figures": {"n": 2}, **of}); say({"done": day["date"]"#,
            "fresh-program", "figures a second time"
        ),
        (
            #""user": day["user"]})"#, #""user": day["user"]}); say({"done": "again"})"#, "end-of-input",
            "wrote more after 'done'"
        ),
        (#"{"n": count}"#, #"{"n": float("nan")}"#, "clock-changes", "NaN"),
    ]

    @Test(arguments: faults.indices) func eachFaultIsFound(_ index: Int) async throws {
        let (original, broken, name, words) = Self.faults[index]
        let plugin = try ScriptedPlugin(replacing: original, with: broken)
        let asked = try #require(ConformanceCase(rawValue: name))
        let report = try await plugin.report(.lines, only: asked)
        let result = try #require(report.failed.first, "nothing was found")
        guard case .failed(let fault) = result.outcome else { return }
        #expect(fault.why.contains(words), "\(fault)")
        #expect(!fault.hint.isEmpty && fault.sent?.isEmpty == false)
    }
}

/// A handler in Python, in its own folder.
struct ScriptedPlugin {
    private let folder: TemporaryFolder

    static let honest = """
        import json, random, sys

        def say(line):
            print(json.dumps(line), flush=True)

        seen, pages = {}, []
        for text in sys.stdin.buffer:
            line = json.loads(text)
            if "hello" in line:
                say({"hello": {"protocol": 1, "name": "test", "version": 1}})
            elif "day" in line:
                day, count = line["day"], 0
            elif "samples" in line:
                for start, end, value in zip(line["samples"]["start"], line["samples"]["end"], line["samples"]["value"]):
                    count += 1
            elif "compute" in line:
                of = {"user": day["user"], "date": day["date"]}
                if count:
                    say({"figures": {"n": count}, **of})
                    say({"hourly": {"n": [count] * len(day["hours"])}, **of})
                say({"done": day["date"], "user": day["user"]})
        """

    init(replacing original: String = "", with broken: String = "") throws {
        folder = try TemporaryFolder()
        let text = original.isEmpty ? Self.honest : Self.honest.replacingOccurrences(of: original, with: broken)
        if !original.isEmpty { try #require(text != Self.honest, "nothing to replace") }
        try text.write(toFile: folder.path + "/handler.py", atomically: true, encoding: .utf8)
        try """
        {
          "name": "test", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler", "exec": ["python3", "handler.py"],
          "limits": { "startSeconds": 2, "daySeconds": 4 }, "types": ["HKQuantityTypeIdentifierDietaryCaffeine"],
          "entitlements": ["health"]
        }
        """.write(toFile: folder.path + "/plugin.json", atomically: true, encoding: .utf8)
    }

    /// Changes the handler's program again.
    func replace(_ original: String, with other: String) throws {
        let file = folder.path + "/handler.py"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try #require(text.contains(original))
        try text.replacingOccurrences(of: original, with: other).write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// Replaces the program with a shell script that first runs `shell` and then `program`. If `shell` sets `block`,
    /// the program ignores SIGTERM.
    func wrap(_ program: String, _ shell: String) throws {
        let script = """
            #!/bin/sh
            log="$2/../$4.log"
            wrong=0; ! grep -qs noSuchOption "$6" || wrong=1
            second=0; [ ! -e "$2/begun" ] || second=1
            [ $wrong = 1 ] || touch "$2/begun"
            block=0
            \(shell)
            [ $block = 0 ] || exec python3 -c 'import os, signal, sys
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            os.execv(sys.argv[1], sys.argv[1:])' "\(program)" "$@"
            exec "\(program)" "$@"
            """
        try script.write(toFile: folder.path + "/healthbus-steps", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: folder.path + "/healthbus-steps")
        try """
        {
          "name": "test", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler", "executable": "./healthbus-steps",
          "types": ["HKQuantityTypeIdentifierStepCount"], "entitlements": ["health"]
        }
        """.write(toFile: folder.path + "/plugin.json", atomically: true, encoding: .utf8)
    }

    /// Runs the cases on a separate thread, which lives as long as the programs it starts.
    func report(
        _ group: ConformanceCase.Group?, only: ConformanceCase? = nil, catalog: PluginCatalog? = nil
    ) async throws -> ConformanceReport {
        let manifest = try Manifest(file: folder.path + "/plugin.json")
        let catalog = try catalog ?? PluginCatalog(folder: folder.path + "/none", programs: "/nowhere")
        return await withCheckedContinuation { continuation in
            Thread {
                let conformance = Conformance(manifest, catalog: catalog)
                continuation.resume(returning: conformance.run(group, only: only))
            }.start()
        }
    }
}
