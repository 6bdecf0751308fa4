import Foundation
import Glibc
import Logging
import Testing

@Suite struct LogFileTests {
    private let folder = NSTemporaryDirectory() + "log-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test func turnsOverBetweenTwoLinesAndStaysBelowTwiceItsLimit() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/log"
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let file = try #require(LogFile(path: path, descriptor: descriptor, limit: 100))
        for number in 100..<120 { file.write("line \(number)\n") }
        // Ten nine-byte lines fill a file; the two files contain the last lines, whole and in order.
        let all = try lines(LogFile.older(path)) + lines(path)
        #expect(all == (100..<120).suffix(all.count).map { "line \($0)" })
        #expect(all.count >= 11)
        for name in [path, LogFile.older(path)] {
            let size = try #require(try FileManager.default.attributesOfItem(atPath: name)[.size] as? Int)
            #expect(size <= 100)
        }
        // Anything else written to the descriptor goes to the new file too.
        StandardStream(descriptor: descriptor).write("bare\n")
        #expect(try lines(path).last == "bare")
    }

    @Test func aSecondProcessGoesAlongIntoTheNewFile() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/log"
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC
        let descriptors = [open(path, flags, 0o600), open(path, flags, 0o600)]
        defer { for descriptor in descriptors { close(descriptor) } }
        let files = try descriptors.map { try #require(LogFile(path: path, descriptor: $0, limit: 30)) }
        for number in 100..<105 { files[0].write("line \(number)\n") }
        files[1].write("line 105\n")
        #expect(try lines(path).last == "line 105")
        #expect(try lines(LogFile.older(path)) == ["line 100", "line 101", "line 102"])
    }

    @Test func whatIsNoFileOfItsOwnIsLeftAlone() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/log"
        let other = open(folder + "/other", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(other) }
        #expect(LogFile(path: path, descriptor: other) == nil)
        close(open(path, O_WRONLY | O_CREAT, 0o600))
        #expect(LogFile(path: path, descriptor: other) == nil)
    }
}

@Suite struct LogLineTests {
    private let fields: LogFields = ["why": "a \"b\" = c\u{1B}[2J", "count": 3]

    private func written(_ format: Log.Format) throws -> String {
        nonisolated(unsafe) var text = ""
        let log = Log(
            plugin: "steps", format: format, now: { Date(timeIntervalSince1970: 1_770_091_506.5) },
            write: { text = String($0.dropLast()) })
        log(LogEvent("anchor.reset", .notice, "…"), fields)
        return text
    }

    @Test(arguments: Log.Format.allCases) func readsWhatTheLogWrites(_ format: Log.Format) throws {
        let line = LogLine(try written(format), instance: "other", before: "")
        #expect(line.time == "2026-02-03T04:05:06.500Z")
        #expect(line.level == .notice)
        #expect(line.instance == "steps")
        #expect(line.category == "anchor")
        #expect(line.event == "anchor.reset")
        #expect(Set(line.fields.map(\.key)) == ["why", "count"])
        #expect(line.fields.first { $0.key == "why" }?.value == "a \"b\" = c\u{1B}[2J")
        #expect(line.fields.first { $0.key == "count" }?.value == "3")
        // Neither form contains control sequences.
        #expect(!line.line.contains("\u{1B}"))
        #expect(!line.json.contains("\u{1B}"))
    }

    @Test func aCrashsLastWordsKeepTheTimeOfTheLineBefore() {
        let line = LogLine(
            "Fatal error: \u{7}index out of range", instance: "sleep", before: "2026-02-03T04:05:06.500Z")
        #expect(line.level == nil)
        #expect(line.time == "2026-02-03T04:05:06.500Z")
        #expect(line.line == "Fatal error:  index out of range")
        #expect(
            line.json
                == #"{"time":"2026-02-03T04:05:06.500Z","plugin":"sleep","text":"Fatal error: \u0007index out of range"}"#
        )
    }
}
