import Configuration
import Conformance
import Foundation
import Glibc
import HealthModel
import TestSupport
import Testing

/// The cases that run a plugin in a stack find the faults they are meant to find.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct BrokenProcessTests {
    private static let programs: String = {
        if let folder = ProcessInfo.processInfo.environment["HEALTHBUS_BIN"], !folder.isEmpty { return folder }
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (bundle as NSString).deletingLastPathComponent
    }()
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private static func catalog() throws -> PluginCatalog {
        try PluginCatalog(folder: checkout + "/plugins", programs: programs)
    }

    /// Shell code that runs before the shipped `steps`: $wrong is 1 when its configuration has the undeclared option,
    /// $second is 1 when another process has started before it.
    static let processFaults: [(String, ConformanceCase, String)] = [
        ("exit 4", .ready, "ended (exit code 4) before it was ready"),
        ("[ $wrong = 0 ] || exec sleep 1000", .options, "runs with an option its manifest doesn't declare"),
        ("[ $wrong = 0 ] || exit 1", .options, "ended with exit code 1 when given an option"),
        ("[ $second = 0 ] || exec sleep 1000", .lock, "a second process runs on the same state folder"),
        ("[ $second = 0 ] || exit 0", .lock, "a second process on the same state folder ended with exit code 0"),
        // The killer checks a thousand times between two heartbeats, and is already running when the plugin starts.
        (
            """
            python3 -c 'import os, sys, time
            open(sys.argv[1] + ".armed", "w").close()
            while not os.path.exists(sys.argv[1]) or b"message.malformed" not in open(sys.argv[1], "rb").read():
                time.sleep(0.001)
            os.kill(int(sys.argv[2]), 9)' $log $$ &
            until [ -e $log.armed ]; do sleep 0.01; done
            """, .foreignMessages, "ended (signal 9 (Killed)) when sent messages"
        ),
        (#"case "$*" in *--standby*) exit 1;; esac"#, .standby, "with --standby it ended (exit code 1)"),
        (#"case "$*" in *--standby*) exec sleep 1000;; esac"#, .standby, "didn't take over"),
        ("block=1", .drain, "didn't end within 10 s of SIGTERM"),
    ]

    @Test(arguments: processFaults.indices) func eachFaultOfAProcessIsFound(_ index: Int) async throws {
        let (shell, asked, words) = Self.processFaults[index]
        let plugin = try ScriptedPlugin()
        try plugin.wrap(Self.programs + "/healthbus-steps", shell)
        let report = try await plugin.report(.process, only: asked, catalog: Self.catalog())
        let result = try #require(report.failed.first, "nothing was found")
        guard case .failed(let fault) = result.outcome else { return }
        #expect(fault.why.contains(words), "\(fault)")
    }

    /// Changes to the correct program, each with the case that should find it.
    static let figureFaults: [(String, String, ConformanceCase, String)] = [
        (
            #"say({"done": day["date"]"#,
            #"say({"error": "odd"}) if day["date"] == "2025-03-30" else say({"done": day["date"]"#, .figures,
            "1 day couldn't be computed"
        ),
        ("if count:", "if False:", .figures, "gives no figures of"),
        // A figure that counts the program's starts, using a file.
        (
            "seen, pages = {}, []", "open('starts', 'a').write('x')\nstarts = len(open('starts').read())", .reordered,
            "when the samples came in another order"
        ),
        (
            "seen, pages = {}, []", "open('starts', 'a').write('x')\nstarts = len(open('starts').read())", .repeated,
            "when messages came twice"
        ),
        (
            "seen, pages = {}, []", "open('starts', 'a').write('x')\nstarts = len(open('starts').read())", .crash,
            "when it was killed three times"
        ),
        (
            "seen, pages = {}, []", "open('starts', 'a').write('x')\nstarts = len(open('starts').read())", .drainAtWork,
            "when it was stopped while at work"
        ),
        ("if count:", "if True:", .emptied, "though that day's samples are gone"),
        ("if count:", "if count > 50000: sys.exit(5)\n        if count:", .manySamples, "1 day couldn't be computed"),
    ]

    @Test(arguments: figureFaults.indices) func eachFaultOfFiguresIsFound(_ index: Int) async throws {
        let (original, broken, asked, words) = Self.figureFaults[index]
        let plugin = try ScriptedPlugin(replacing: original, with: broken)
        if broken.contains("starts") { try plugin.replace(#"{"n": count}"#, with: #"{"n": count + starts}"#) }
        let report = try await plugin.report(.figures, only: asked, catalog: Self.catalog())
        let result = try #require(report.failed.first, "nothing was found")
        guard case .failed(let fault) = result.outcome else { return }
        #expect(fault.why.contains(words), "\(fault)")
    }
}
