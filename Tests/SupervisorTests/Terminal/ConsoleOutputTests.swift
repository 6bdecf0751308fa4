import Foundation
import Logging
import Synchronization
import Terminal
import Testing

@Suite struct ConsoleOutputTests {
    static let piped = Terminal(isTerminal: false)
    static let screen = Terminal(isTerminal: true, width: 60)

    @Test(arguments: [
        ("steps", 5), ("", 0), ("Schlaf\u{00E4}", 7), ("e\u{301}", 1), ("日本", 4), ("한", 2), ("👍🏽", 2), ("👩‍👩‍👧", 2),
        ("🇨🇭", 2),
        ("❤\u{FE0F}", 2), ("a\u{00A0}b", 3), ("1\u{202F}000", 5), ("…", 1),
    ])
    func widths(text: String, columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
    }

    @Test func truncatesByColumns() {
        #expect(DisplayWidth.truncated("日本語", to: 6) == "日本語")
        #expect(DisplayWidth.truncated("日本語", to: 5) == "日本…")
        #expect(DisplayWidth.truncated("日本語", to: 4) == "日…")
        #expect(DisplayWidth.truncated("abc", to: 0) == "")
    }

    @Test func tablesAlign() {
        var table = Table([.init("Type"), .number("Count"), .init("Source")])
        table.add(["steps", "1 234", "日本"])
        table.add(["睡眠", "7"])
        table.add(["a\nb\u{1B}[2J", "10", "x"])
        #expect(
            table.render(for: Self.piped) == """
                Type     Count  Source
                steps    1 234  日本
                睡眠         7
                a b [2J     10  x

                """)
    }

    @Test func tablesFitTheScreenAndColourTheHeader() {
        var table = Table([.init("Name")])
        table.add(["abcdefghij"])
        let narrow = Terminal(isTerminal: true, width: 5, usesColor: true)
        #expect(table.render(for: narrow) == "\u{1B}[1mName\u{1B}[0m\nabcd…\n")
    }

    @Test func columnsGiveWayOnANarrowScreen() {
        var table = Table([.init("Date"), .number("Steps", givesWay: 2), .number("km", givesWay: 1), .init("State")])
        table.add(["03-30", "8140", "5.6", "final"])
        func header(_ width: Int) -> String {
            String(table.render(for: Terminal(isTerminal: true, width: width)).prefix { $0 != "\n" })
        }
        #expect(header(24) == "Date   Steps   km  State")
        #expect(header(23) == "Date   Steps  State")
        #expect(header(18) == "Date   State")
        #expect(header(8) == "Date   …")
        #expect(table.render(for: Self.piped).hasPrefix("Date   Steps   km  State\n"))
    }

    @Test(arguments: [(["TERM": "xterm"], false), (["COLUMNS": "132"], true)])
    func aPipeIsNoTerminal(environment: [String: String], hasWidth: Bool) throws {
        let pipe = Pipe()
        let terminal = Terminal(
            StandardStream(descriptor: pipe.fileHandleForWriting.fileDescriptor), environment: environment)
        #expect(terminal == Terminal(isTerminal: false, width: hasWidth ? 132 : 80))
        #expect(terminal.styled("x", .red) == "x")
    }

    /// The output of a progress bar, driven by the test's own clock.
    final class Screen: Sendable {
        let time = Mutex<Duration>(.zero)
        let text = Mutex<[String]>([])

        func bar(_ terminal: Terminal, total: Int?) -> ProgressBar {
            ProgressBar(
                "Importing", totalBytes: total, terminal: terminal, clock: { self.time.withLock(\.self) },
                write: { line in self.text.withLock { $0.append(line) } })
        }
    }

    @Test func theBarDrawsAtMostTenTimesASecondAndEndsWithASummary() {
        let screen = Screen()
        var bar = screen.bar(Terminal(isTerminal: true, width: 120), total: 10_000_000)
        for step in 1...2000 {
            screen.time.withLock { $0 = .milliseconds(step) }
            bar.update(bytes: step * 2500, records: step * 10)
        }
        let drawings = screen.text.withLock(\.count)
        #expect(drawings == 20)
        let last = screen.text.withLock { $0.last }
        #expect(
            last
                == "\rImporting █████████░░░░░░░░░░░ 47 %, 4.8 MB of 10.0 MB, 19\u{202F}010 records, about 3 s left, "
                + "10\u{202F}000 records/s\u{1B}[K")
        bar.finish()
        let summary = screen.text.withLock { $0.last }
        #expect(summary == "\rImporting: 20\u{202F}000 records, 5.0 MB in 2 s (10\u{202F}000 records/s)\u{1B}[K\n")
    }

    @Test func theBarIsSilentWithoutAScreen() {
        let screen = Screen()
        var bar = screen.bar(Self.piped, total: 100)
        screen.time.withLock { $0 = .seconds(5) }
        bar.update(bytes: 100, records: 1)
        bar.finish()
        let isSilent = screen.text.withLock(\.isEmpty)
        #expect(isSilent)
        #expect(bar.summary.hasPrefix("Importing: 1 records, 100 B in 5 s"))
    }

    @Test func theBarKeepsToOneLine() {
        let screen = Screen()
        var bar = screen.bar(Terminal(isTerminal: true, width: 20), total: nil)
        bar.update(bytes: 123_456_789, records: 123_456_789)
        let drawn = screen.text.withLock { $0[0] }
        #expect(DisplayWidth.of(drawn.dropFirst().replacingOccurrences(of: "\u{1B}[K", with: "")) <= 19)
    }

    @Test func aFailureSaysWhatToDo() {
        let failure = Failure("can't open x", hint: "check the path", code: .damaged)
        #expect(failure.report(program: "healthbus") == "healthbus: can't open x\nhint: check the path\n")
        #expect("\(failure)" == "can't open x; check the path")
        #expect(Failure("no").report(program: "p") == "p: no\n")
    }

    @Test func reportAndExitGivesTheCode() async {
        let result = await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
            reportAndExit(Failure("store is damaged", hint: "restore it", code: .damaged), program: "healthbus")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("healthbus: store is damaged\nhint: restore it\n"))
    }
}
