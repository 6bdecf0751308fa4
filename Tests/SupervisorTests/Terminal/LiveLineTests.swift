import Processes
import Synchronization
import Terminal
import Testing

/// The bottom line of a terminal, and the lines printed above it.
@Suite struct LiveLineTests {
    private final class Screen: Sendable {
        let text = Mutex("")
        var all: String { text.withLock { $0 } }
        func line(_ terminal: Terminal) -> LiveLine {
            LiveLine(terminal) { written in self.text.withLock { $0 += written } }
        }
    }

    private let bar = "\rreading 40 %\u{1B}[K"

    @Test func whatIsSaidStandsAboveAndTheLineIsDrawnAgain() {
        let screen = Screen()
        let line = screen.line(Terminal(isTerminal: true, width: 20))
        line.say("a")
        line.rest("15 of 15 ready")
        line.say("b")
        let rest = "\r15 of 15 ready\u{1B}[K"
        #expect(screen.all == "a\n" + rest + "\r\u{1B}[Kb\n" + rest)
        line.end()
        line.rest("more")
        line.say("c")
        #expect(screen.all.hasSuffix(rest + "\r\u{1B}[Kc\n"))
    }

    @Test func aBarGoesBeforeWhatRests() {
        let screen = Screen()
        let line = screen.line(Terminal(isTerminal: true, width: 20))
        line.rest("ready")
        line.draw(bar: bar)
        line.rest("isn't shown")
        line.say("c")
        #expect(screen.all.hasSuffix(bar + "\r\u{1B}[Kc\n" + bar))
        line.draw(bar: "\rread it\u{1B}[K\n")
        line.say("d")
        #expect(screen.all.hasSuffix("\rread it\u{1B}[K\nd\n"))
        line.rest("a line that is longer than the terminal is wide")
        #expect(screen.all.hasSuffix("\ra line that is lon…\u{1B}[K"))
    }

    @Test func intoAPipeGoLinesAlone() {
        let screen = Screen()
        let line = screen.line(Terminal(isTerminal: false))
        line.rest("ready")
        line.say("a")
        line.end()
        #expect(screen.all == "a\n")
    }

    @Test func aNoticeOfReadinessArrivesOnce() throws {
        let receiver = try ReadinessNotice.Receiver()
        #expect(!receiver.wait(for: .zero))
        ReadinessNotice.send(environment: [:])
        ReadinessNotice.send(environment: [ReadinessNotice.variable: "@healthbus-nobody"])
        ReadinessNotice.send(environment: [ReadinessNotice.variable: "/" + String(repeating: "x", count: 200)])
        #expect(!receiver.wait(for: .zero))
        ReadinessNotice.send(environment: [ReadinessNotice.variable: receiver.name])
        #expect(receiver.wait(for: .seconds(10)) && !receiver.wait(for: .zero))
    }
}
