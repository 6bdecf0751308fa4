import Foundation
import Logging
import Synchronization
import Testing

@Suite struct LogTests {
    /// Keeps whatever is written.
    final class Recorder: Sendable {
        let lines = Mutex<[String]>([])

        func log(_ minimum: Log.Level, _ format: Log.Format) -> Log {
            Log(
                plugin: "steps", levels: LogLevels(minimum), format: format,
                now: { Date(timeIntervalSince1970: 1_770_000_000.5) },
                write: { line in self.lines.withLock { $0.append(line) } })
        }

        var text: String { lines.withLock { $0.joined() } }
    }

    static let fired = LogEvent("observer.fired", .notice, failing: .error, "…")

    /// There is one level for everything, and others for individual categories; an event that reports a failure uses
    /// its failure level.
    @Test func levelsByCategory() throws {
        let levels = try LogLevels("warning,observer=debug,sync=error", variable: "LEVEL")
        #expect(levels.wants(Self.fired))
        #expect(!levels.wants(LogEvent("page", .notice, "…")) && levels.wants(LogEvent("page.x", .error, "…")))
        #expect(!levels.wants(LogEvent("sync.metric", .warning, failing: .error, "…")))
        #expect(levels.wants(LogEvent("sync.metric", .warning, failing: .error, "…"), failed: true))
        #expect(LogLevels().wants(LogEvent("x.y", .info, "…")) && !LogLevels().wants(LogEvent("x.y", .debug, "…")))
        for wrong in ["loud", "info,observer", "info,=debug", "observer=", ","] {
            #expect(throws: Failure.self) { try LogLevels(wrong, variable: "LEVEL") }
        }
    }

    @Test func textLines() {
        let recorder = Recorder()
        recorder.log(.debug, .text)(
            Self.fired,
            [
                "type": "stepCount", "head": 48_213, "took": Duration.milliseconds(1500), "last": true,
                "error": "no such \"file\"\n", "empty": "",
            ])
        #expect(
            recorder.text
                == "2026-02-02T02:40:00.500Z notice steps observer observer.fired type=stepCount head=48213 took=1.5 "
                + "last=true error=\"no such \\\"file\\\"\\n\" empty=\"\"\n")
    }

    /// Some terminals obey control characters that aren't ASCII.
    @Test(arguments: ["x\u{9B}31m", "\u{85}", "x\u{7F}"]) func controlCharactersAreEscaped(_ error: String) {
        let recorder = Recorder()
        recorder.log(.debug, .text)(Self.fired, ["type": "é", "error": error])
        #expect(recorder.text.contains(" type=é error=\"") && recorder.text.contains("\\u00"))
        let control = recorder.text.unicodeScalars.contains { (0x7F...0x9F).contains($0.value) }
        #expect(!control)
    }

    @Test func jsonLines() throws {
        let recorder = Recorder()
        recorder.log(.debug, .json)(
            LogEvent("sync.failed", .error, "…"),
            ["error": "a\"b\\c\n\u{1}\u{9B}é", "count": 3, "ratio": Double.nan, "again": false])
        #expect(recorder.text.hasSuffix("}\n"))
        #expect(recorder.text.filter { $0 == "\n" }.count == 1)
        let object = try JSONSerialization.jsonObject(with: Data(recorder.text.utf8)) as? [String: Any]
        #expect(object?["time"] as? String == "2026-02-02T02:40:00.500Z")
        #expect(object?["level"] as? String == "error")
        #expect(object?["plugin"] as? String == "steps")
        #expect(object?["category"] as? String == "sync")
        #expect(object?["event"] as? String == "sync.failed")
        let fields = object?["fields"] as? [String: Any]
        #expect(fields?["error"] as? String == "a\"b\\c\n\u{1}\u{9B}é")
        #expect(fields?["count"] as? Int == 3)
        #expect(fields?["ratio"] as? String == "nan")
        #expect(fields?["again"] as? Bool == false)
    }

    @Test(arguments: [
        (112.44943694393129, "112.449"), (0.0004, "0.0"), (2.9996, "3.0"), (-1.2345678, "-1.235"), (1e16, "1e+16"),
        (.infinity, "inf"),
    ])
    func numbersHaveThreeDecimals(_ number: Double, _ written: String) {
        for (format, ending) in [(Log.Format.text, "seconds=\(written)\n"), (.json, "\"seconds\":\(written)}}\n")] {
            let recorder = Recorder()
            recorder.log(.debug, format)(Self.fired, ["seconds": number])
            let text = recorder.text.replacing("\"inf\"", with: "inf")
            #expect(text.hasSuffix(ending), "\(text)")
        }
    }

    @Test func whatIsBelowTheLevelIsNotEvenEvaluated() {
        let recorder = Recorder()
        func cost() -> Int {
            Issue.record("evaluated")
            return 1
        }
        recorder.log(.warning, .text)(Self.fired, ["cost": cost()])
        #expect(recorder.text.isEmpty)
    }

    @Test func theEnvironmentDecides() throws {
        let plain = try Log(plugin: "hub", environment: [:])
        #expect(plain.levels == LogLevels(.info) && plain.format == .text)
        let set = try Log(plugin: "hub", environment: ["HEALTHBUS_LOG": "json", "HEALTHBUS_LOG_LEVEL": "error"])
        #expect(set.levels == LogLevels(.error) && set.format == .json)
        let error = #expect(throws: Failure.self) {
            try Log(plugin: "hub", environment: ["HEALTHBUS_LOG_LEVEL": "loud"])
        }
        #expect(error?.hint?.contains("debug, info, notice, warning, error") == true)
    }

    /// Lines that many threads write into one pipe arrive intact.
    @Test func linesOfThreadsDoNotMix() async throws {
        let pipe = Pipe()
        let stream = StandardStream(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        let log = Log(plugin: "steps", write: { stream.write($0) })
        let reader = Task.detached { try pipe.fileHandleForReading.readToEnd() ?? Data() }
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    for line in 0..<100 {
                        log(Self.fired, ["writer": writer, "line": line])
                    }
                }
            }
        }
        try pipe.fileHandleForWriting.close()
        let lines = String(decoding: try await reader.value, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 800)
        #expect(
            lines.allSatisfy {
                $0.contains(" notice steps observer observer.fired writer=") && $0.split(separator: " ").count == 7
            })
    }
}
