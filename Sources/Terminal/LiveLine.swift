import Logging
import Synchronization

/// The lowest line of a terminal, which is drawn again and again, and the lines above it: everything written through it
/// keeps both intact. From any thread.
package final class LiveLine: Sendable {
    private struct State {
        /// As drawn; empty while there is none.
        var text = ""
        /// Whether it is a bar, which takes precedence over the usual line.
        var isBar = false
        /// Nothing rests there any more.
        var isOver = false
    }

    /// The one for standard error, shared by everything that this process writes there.
    package static let error = LiveLine(Terminal(.error), width: { Terminal(.error).width }) {
        StandardStream.error.write($0)
    }

    private static let erase = "\r\u{1B}[K"
    private let terminal: Terminal
    /// Read each time: a window's width may change.
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

    /// What a `ProgressBar` draws: a line that stays the lowest, or, if it ends with a line break, its final state.
    package func draw(bar text: String) {
        state.withLock { state in
            let isLast = text.hasSuffix("\n")
            (state.text, state.isBar) = (isLast ? "" : text, !isLast)
            write(text)
        }
    }

    /// The line shown there while no bar is drawn; cut to fit. Nothing where there is no terminal.
    package func rest(_ text: String) {
        guard terminal.isTerminal else { return }
        let width = width()
        state.withLock { state in
            guard !state.isBar, !state.isOver else { return }
            state.text = "\r" + DisplayWidth.truncated(text, to: max(1, width - 1)) + "\u{1B}[K"
            write(state.text)
        }
    }

    /// Removes the line shown there for good.
    package func end() {
        state.withLock { state in
            state.isOver = true
            guard !state.isBar, !state.text.isEmpty else { return }
            state.text = ""
            write(Self.erase)
        }
    }

    /// A line that scrolls up.
    package func say(_ line: String) { above { write(line + "\n") } }

    /// Writes something above the lowest line, on any stream of the same terminal.
    package func above(_ body: () -> Void) {
        state.withLock { state in
            if !state.text.isEmpty { write(Self.erase) }
            body()
            if !state.text.isEmpty { write(state.text) }
        }
    }
}
