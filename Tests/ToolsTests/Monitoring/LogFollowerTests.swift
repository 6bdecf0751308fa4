import Configuration
import Foundation
import Glibc
import HealthModel
import Inspection
import Logging
import Monitoring
import Testing

@Suite struct LogFollowerTests {
    private let folder = NSTemporaryDirectory() + "follow-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func line(_ second: Int, _ instance: String, _ level: String = "info") -> String {
        "2026-02-03T04:05:0\(second).000Z \(level) \(instance) part part.happened number=\(second)\n"
    }

    private func append(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(StandardStream(descriptor: descriptor).write(text))
    }

    @Test func readsOnAcrossANewFileWithoutLossOrRepetition() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/log"
        try append(line(1, "a"), to: LogFile.older(path))
        try append(line(2, "a"), to: path)
        var follower = LogFollower(path: path, instance: "a", fromEnd: false)
        #expect(follower.next()?.fields.first?.value == "1")
        #expect(follower.next()?.fields.first?.value == "2")
        #expect(follower.next() == nil)
        // Half a line isn't read yet.
        try append(String(line(3, "a").prefix(20)), to: path)
        #expect(follower.next() == nil)
        try append(String(line(3, "a").dropFirst(20)) + line(4, "a"), to: path)
        try #require(rename(path, LogFile.older(path)) == 0)
        try append(line(5, "a"), to: path)
        #expect(follower.next()?.fields.first?.value == "3")
        #expect(follower.next()?.fields.first?.value == "4")
        #expect(follower.next()?.fields.first?.value == "5")
        #expect(follower.next() == nil)
    }

    @Test func logsAreMergedByTime() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (a, b) = (folder + "/a", folder + "/b")
        try append(line(1, "a") + "Fatal error\n" + line(4, "a"), to: a)
        try append(line(2, "b") + line(3, "b"), to: b)
        var merged = MergedLogs([("a", a), ("b", b)], fromEnd: false)
        var seen: [String] = []
        while let line = merged.next() { seen.append(line.fields.first?.value ?? line.text) }
        #expect(seen == ["1", "Fatal error", "2", "3", "4"])
        try append(line(5, "b"), to: b)
        #expect(merged.next()?.instance == "b")
    }

    /// Like a console's filter by subsystem.
    @Test func onlyTheNamedInstancesAreShown() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let stack = try Stack(state: folder, configurationFile: nil)
        for instance in ["observer", "steps", "uploader"] {
            let path = stack.state.log(instance)
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try append(line(1, instance), to: path)
        }
        func shown(_ names: [String]) throws -> Set<String> {
            var seen: Set<String> = []
            try LogReport(stack, names: names).run(.init(), follows: false) { seen.insert($0.instance).inserted }
            return seen
        }
        #expect(try shown(["steps", "uploader"]) == ["steps", "uploader"])
        #expect(try shown([]).contains("observer"))
        #expect(throws: Failure.self) { try shown(["stepz"]) }
    }

    @Test(arguments: [0, 1, 3, 5, 9]) func theLastLinesAreKeptInOrder(_ limit: Int) {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var last = LastLines(limit)
        #expect(last.lines.isEmpty)
        let all = (0..<7).map { LogLine(String(line($0, "a").dropLast()), instance: "a", before: "") }
        for line in all { last.add(line) }
        #expect(last.lines == Array(all.suffix(limit)))
    }

    @Test func theFilterGoesByLevelAndTime() {
        let old = LogLine(String(line(1, "a", "error").dropLast()), instance: "a", before: "")
        let new = LogLine(String(line(9, "a", "info").dropLast()), instance: "a", before: "")
        let crash = LogLine("Fatal error", instance: "a", before: new.time)
        let since = InstantText.parse("2026-02-03T04:05:05Z")
        let filter = LogReport.Filter(since: since, minimum: .info)
        #expect(!filter.wants(old) && filter.wants(new) && filter.wants(crash))
        let errors = LogReport.Filter(minimum: .error)
        #expect(errors.wants(old) && !errors.wants(new) && errors.wants(crash))
    }

    @Test func theFilterGoesByCategory() throws {
        let fired = LogLine(
            "2026-02-03T04:05:01.000Z debug observer observer observer.fired", instance: "a", before: "")
        let released = LogLine("2026-02-03T04:05:02.000Z debug debouncer sync sync.metric", instance: "a", before: "")
        let crash = LogLine("Fatal error", instance: "a", before: fired.time)
        let filter = LogReport.Filter(categories: try LogReport.Filter.categories(["observer"]))
        #expect(filter.wants(fired) && !filter.wants(released) && !filter.wants(crash))
        let both = LogReport.Filter(categories: try LogReport.Filter.categories(["observer", "sync"]))
        #expect(both.wants(fired) && both.wants(released))
        #expect(throws: Failure.self) { try LogReport.Filter.categories(["obsever"]) }
    }
}

@Suite struct SinceTests {
    private let now = Instant(seconds: 1_000_000)

    @Test(arguments: [("90s", 90), ("10m", 600), ("2h", 7200), ("3d", 259_200), ("0s", 0)] as [(String, Int64)])
    func durationsGoBackFromNow(_ text: String, _ seconds: Int64) throws {
        #expect(try Since(text, option: "--since", now: now).instant == now - .seconds(seconds))
    }

    @Test func datesAndMoments() throws {
        #expect(try Since("1970-01-02", option: "--since", now: now).instant == Instant(seconds: 86_400))
        #expect(try Since("1970-01-01T01:00:00+01:00", option: "--since", now: now).instant == .epoch)
    }

    @Test(arguments: ["", "m", "-5m", "10 parsecs", "someday", "2025-02-30"])
    func whatIsNoMomentIsRefused(_ text: String) {
        #expect(throws: Failure.self) { try Since(text, option: "--since", now: now) }
    }
}
