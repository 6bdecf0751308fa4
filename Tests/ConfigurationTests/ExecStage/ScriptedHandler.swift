import Configuration
import ExecStage
import Foundation
import HandlerKit
import HealthModel
import Logging
import MessageBus
import StageKit
import Synchronization
import TestSupport
import Testing

/// A handler written in a few lines of shell, in a folder of its own, with the host that runs it.
final class ScriptedHandler {
    static let day = LocalDay(year: 2025, month: 3, day: 26)
    static let hello = #"echo '{"hello":{"protocol":1,"name":"test","version":1}}'"#
    static let done = #"echo '{"done":"2025-03-26","user":"me"}'"#
    static let figures = #"echo '{"figures":{"n":1.5},"user":"me","date":"2025-03-26"}'"#

    private let folder: TemporaryFolder
    let log: LogLines
    let runner: ExecRunner

    final class LogLines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        var stageLog: StageLog {
            StageLog { [self] event, _, fields in
                lines.withLock { $0.append(([event.name] + fields.map { "\($0)=\($1)" }).joined(separator: " ")) }
            }
        }
    }

    /// - Parameters:
    ///   - hello: how the script reacts to the first line.
    ///   - line: what it does with each line after the first.
    ///   - compute: what it does when asked to compute.
    ///   - end: what it does at the end of its input.
    init(
        hello: String = ScriptedHandler.hello, line: String = "", compute: String, end: String = "",
        limits: ExecLimits = ExecLimits(), types: [String] = ["T"]
    ) throws {
        folder = try TemporaryFolder()
        log = LogLines()
        let script = """
            echo start >> starts
            read -r line
            \(hello)
            while read -r line; do
              \(line)
              case $line in
              '{"compute"'*) \(compute) ;;
              esac
            done
            \(end)
            """
        try script.write(toFile: folder.path + "/handler.sh", atomically: true, encoding: .utf8)
        let command = ExecCommand(
            words: ["sh", "handler.sh"], folder: folder.path, limits: limits, file: folder.path + "/plugin.json")
        runner = try ExecRunner(
            command, instance: "mine", plugin: "test", types: types, configuration: ["depth": 3], log: log.stageLog)
    }

    deinit { runner.stop() }

    /// How often the program was started.
    var starts: Int { (try? text("starts"))?.split(separator: "\n").count ?? 0 }

    func has(_ file: String) -> Bool { FileManager.default.fileExists(atPath: folder.path + "/" + file) }

    func text(_ file: String) throws -> String {
        try String(contentsOfFile: folder.path + "/" + file, encoding: .utf8)
    }

    func write(_ file: String) throws {
        try "".write(toFile: folder.path + "/" + file, atomically: true, encoding: .utf8)
    }

    /// Makes the program compute a day.
    func ask(_ samples: SamplePage = SamplePage()) throws -> DayReply {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let input = DayInput(
            user: "me", day: Self.day, window: .localDay, zones: zones, cutting: samples, configuration: ["depth": 3],
            characteristics: ["dateOfBirth": "1986-05-17"])
        let answers = Mailbox<EffectResult>(capacity: 1)
        runner.perform(Effect(id: 7, request: DayRequest(input: input))) { answers.offer($0) }
        let answer = try #require(answers.take(limit: 1, timeout: Patience.seconds).first, "no answer")
        #expect(answer.id == 7)
        return try #require(answer.value as? DayReply)
    }

    /// The reason why a day has no figures.
    func reason(_ samples: SamplePage = SamplePage()) throws -> String {
        guard case .failed(let reason) = try ask(samples) else { throw Unexpected() }
        return reason
    }

    func output(_ samples: SamplePage = SamplePage()) throws -> DayOutput {
        switch try ask(samples) {
        case .computed(let output): return output
        case .failed(let reason):
            Issue.record("\(reason)")
            throw Unexpected()
        case .unavailable(let error): throw error
        }
    }

    struct Unexpected: Error {}

    /// Rows of one type at noon of the day, each lasting a second.
    static func samples(_ count: Int) -> SamplePage {
        var page = SamplePage()
        page.types = ["T"]
        page.origins = [Origin(sourceName: "Anna’s \"Watch\"", device: "model:Watch"), Origin(sourceName: "App")]
        let noon = Instant(seconds: 1_742_986_800)
        for row in 0..<count {
            page.ids.append(SampleID(high: 1, low: UInt64(row)))
            page.sequence.append(1)
            page.type.append(0)
            page.start.append(noon.microseconds + Int64(row))
            page.end.append((noon + .seconds(1)).microseconds + Int64(row))
            page.value.append(row % 2 == 0 ? 0.1 : .nan)
            page.origin.append(1)
            page.flags.append(row == 0 ? [.userEntered] : [])
        }
        return page
    }
}

/// Waits for a condition; returns false if it isn't met in time.
func comes(_ condition: () throws -> Bool) async throws -> Bool { try await eventually(every: 5, condition) }
