import Logging
import Synchronization

/// The bottom line of a terminal, which is constantly redrawn, and the lines above it. Anything written through this
/// type leaves both intact. Safe to use from any thread.
package final class LiveLine: Sendable {
    private struct State {
        /// The line as drawn; empty while there is none.
        var text = ""
        /// Whether the line is a progress bar, which takes precedence over the usual line.
        var isBar = false
        /// When `restSometimes` last set the line.
        var restedAt: ContinuousClock.Instant?
        /// Whether the bottom line has been removed for good.
        var isOver = false
    }

    /// The instance for standard error, shared by everything that this process writes there.
    package static let error = LiveLine(Terminal(.error), width: { Terminal(.error).width }) {
        StandardStream.error.write($0)
    }

    private static let erase = "\r\u{1B}[K"
    private let terminal: Terminal
    /// Determined each time, since the width of the window may change.
    private let width: @Sendable () -> Int
    private let write: @Sendable (String) -> Void
    private let state = Mutex(State())

    package init(
        _ terminal: Terminal, width: (@Sendable () -> Int)? = nil, write: @escaping @Sendable (String) -> Void
    ) {
        self.terminal = terminal
        self.width = width ?? { terminal.width }
        self.write = write
    }

    /// Draws a `ProgressBar`'s line, which stays at the bottom. If the line ends with a line break, it is the bar's
    /// final state.
    package func draw(bar text: String) {
        state.withLock { state in
            let isLast = text.hasSuffix("\n")
            (state.text, state.isBar) = (isLast ? "" : text, !isLast)
            write(text)
        }
    }

    /// Sets the line to show while no bar is drawn, cut to fit. Does nothing without a terminal.
    package func rest(_ text: String) {
        guard terminal.isTerminal else { return }
        let width = width()
        state.withLock { state in
            guard !state.isBar, !state.isOver else { return }
            state.text = "\r" + DisplayWidth.truncated(text, to: max(1, width - 1)) + "\u{1B}[K"
            write(state.text)
        }
    }

    /// The same at most ten times a second, for what changes more often than anyone can read.
    package func restSometimes(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            if let last = state.restedAt, now - last <= .milliseconds(100) { return false }
            state.restedAt = now
            return true
        }
        if isDue { rest(text()) }
    }

    /// Removes the bottom line for good.
    package func end() {
        state.withLock { state in
            state.isOver = true
            guard !state.isBar, !state.text.isEmpty else { return }
            state.text = ""
            write(Self.erase)
        }
    }

    /// Writes a line above the bottom line, so that it scrolls up.
    package func say(_ line: String) { above { write(line + "\n") } }

    /// Writes something above the bottom line, on any stream of the same terminal.
    package func above(_ body: () -> Void) {
        state.withLock { state in
            if !state.text.isEmpty { write(Self.erase) }
            body()
            if !state.text.isEmpty { write(state.text) }
        }
    }
}
