import Foundation
import Glibc
import HealthModel
import Processes
import Protocol
import SQLite
import TestSupport
import Testing

/// Other people's exports, if there are any: in `HEALTHBUS_FIXTURES`, or beside the checkout.
private let fixtures: String? = {
    let beside = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../shared/fixtures").standardized.path
    let folder = ProcessInfo.processInfo.environment["HEALTHBUS_FIXTURES"] ?? beside
    return FileManager.default.fileExists(atPath: folder) ? folder : nil
}()

extension EndToEnd {
    /// A stack whose steps are computed by the example in Python.
    @Suite struct PythonHandlerTests {
        private static let swap = #"{ "instances": { "steps": { "plugin": "steps-python" } } }"#

        private static func configuration(_ stack: TestStack) throws -> String { try stack.write("stack.json", swap) }

        private static func up(_ stack: TestStack, _ words: [String]) async throws -> Command {
            try await stack.start(["up", "--state", stack.state, "--zone", "Europe/Berlin"] + words)
        }

        /// The output of `days --json` once these files are imported, and what the `steps` process has committed, by
        /// day and hour.
        private static func days(of files: [String], on stack: TestStack, python: Bool) async throws
            -> (printed: String, hourly: [String: Value])
        {
            let config = python ? ["--config", try configuration(stack)] : []
            let up = try await up(stack, files.flatMap { ["--import", $0] } + ["--until-idle"] + config)
            let ended = try await up.ended(within: 240)
            #expect(ended.exit == .code(0), "\(ended.error.suffix(3000))")
            let days = try await stack.start(
                ["days", "--json", "--from", "1990-01-01", "--state", stack.state] + config
            ).ended()
            #expect(days.exit == .code(0), "\(days.error)")
            #expect(try stack.number("steps", "SELECT count(*) FROM failed_days") == 0)
            return (days.output, try hourly(stack))
        }

        private static func hourly(_ stack: TestStack) throws -> [String: Value] {
            var found: [String: Value] = [:]
            try stack.read("steps") { database in
                try database.prepare("SELECT key, body FROM changes WHERE body IS NOT NULL").forEachRow { row in
                    // As JSON text, in which 3 and 3.0 are treated as the same.
                    found[row.string(0)] = .string(try CBORDecoder.decode(row.bytes(1))["hourly"].json())
                }
            }
            return found
        }

        @Test func theSameExportGivesTheSameDays() async throws {
            try await withStack { swift in
                let export = try await swift.generate("export.zip", "--days", "60", "--seed", "5")
                let expected = try await Self.days(of: [export], on: swift, python: false)
                #expect(expected.printed.contains("\"steps\"") && expected.hourly.count >= 60)
                try await withStack { python in
                    let given = try await Self.days(of: [export], on: python, python: true)
                    #expect(given.printed == expected.printed)
                    #expect(given.hourly == expected.hourly)
                }
            }
        }

        @Test(.enabled(if: fixtures != nil)) func exportsOfOthersGiveTheSameDays() async throws {
            let files = [
                "apple-export-anonymised/test-export.zip", "legacy-ios9/export.xml", "tdda/export6s3sample.xml",
            ].map { (fixtures ?? "") + "/" + $0 }
            try await withStack { swift in
                let expected = try await Self.days(of: files, on: swift, python: false)
                #expect(expected.hourly.count >= 10)
                try await withStack { python in
                    let given = try await Self.days(of: files, on: python, python: true)
                    #expect(given.printed == expected.printed)
                    #expect(given.hourly == expected.hourly)
                }
            }
        }

        /// First the program is killed (SIGKILL) while it computes days, and then its host; nothing is lost, and no
        /// process is left over.
        @Test func killedProgramsAndHosts() async throws {
            try await withStack { swift in
                let export = try await swift.generate(
                    "export.zip", "--days", "1000", "--records", "100000", "--seed", "6")
                let expected = try await Self.days(of: [export], on: swift, python: false)
                try await withStack { python in
                    let up = try await Self.up(
                        python, ["--import", export, "--config", try Self.configuration(python)])
                    var programs: [pid_t] = []
                    for (goal, strikesHost) in [(100, false), (300, true), (500, false)] {
                        try await until("\(goal) days", within: 120, every: 1) {
                            python.committed(by: "steps") >= goal
                        }
                        var struck: (host: pid_t, program: pid_t)?
                        try await until("the program; \(up.error.suffix(2000))", every: 1) {
                            struck = try python.pid(of: "steps").flatMap { host in
                                Self.children(of: host).first.map { (host, $0) }
                            }
                            return struck != nil
                        }
                        let (host, program) = try #require(struck)
                        programs.append(program)
                        kill(strikesHost ? host : program, SIGKILL)
                        try await until("the end of the program", within: 5) { !isRunning(program) }
                    }
                    try await python.interrupt(up)
                    let given = try await Self.days(of: [], on: python, python: true)
                    #expect(given.printed == expected.printed)
                    #expect(given.hourly == expected.hourly)
                    #expect(Set(programs).count == 3)
                }
            }
        }

        @Test func ctrlCEndsTheProgramToo() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady("--config", try Self.configuration(stack))
                let host = try #require(try stack.pid(of: "steps"))
                let program = try #require(Self.children(of: host).first)
                let ended = try await stack.interrupt(up)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                #expect(!isRunning(program))
            }
        }

        @Test func aProgramThatIsNotThereStopsTheStart() async throws {
            try await withStack { stack in
                let plugins = stack.path("plugins")
                let shipped = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../plugins").standardized
                    .path
                try FileManager.default.createDirectory(atPath: plugins + "/mine", withIntermediateDirectories: true)
                for name in try FileManager.default.contentsOfDirectory(atPath: shipped) {
                    try FileManager.default.createSymbolicLink(
                        atPath: plugins + "/" + name, withDestinationPath: shipped + "/" + name)
                }
                let manifest = """
                    { "name": "mine", "version": 1, "protocol": { "min": 1, "max": 1 }, "kind": "handler",
                      "exec": ["pyton3", "handler.py"], "entitlements": ["health"],
                      "types": ["HKQuantityTypeIdentifierDietaryCaffeine"] }
                    """
                _ = try stack.write("plugins/mine/plugin.json", manifest)
                let config = try stack.write("stack.json", #"{ "instances": { "mine": { "plugin": "mine" } } }"#)
                let ended = try await stack.up("--config", config, environment: ["HEALTHBUS_PLUGINS": plugins])
                    .ended(within: 30)
                #expect(ended.exit == .code(2))
                let words = "\(plugins)/mine/plugin.json: 'exec' names 'pyton3', which isn't in PATH"
                #expect(ended.error.contains(words), "\(ended.error)")
            }
        }

        /// Child processes of this one.
        private static func children(of parent: pid_t) -> [pid_t] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.compactMap { pid_t($0) }.filter { pid in
                guard let stat = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return false }
                // The fields after the process's name (which may contain anything) are the state, then the parent.
                let fields = String(decoding: stat, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
                return fields.map { $0.count > 1 && $0[1] == "\(parent)" } ?? false
            }
        }
    }
}
