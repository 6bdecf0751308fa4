import Foundation
import Glibc
import Logging

/// The whole screen of a terminal, for a program that keeps redrawing it. Uses the alternate buffer, and reads keys
/// without echoing them or waiting for Enter.
///
/// `leave` restores everything; whoever calls `enter` must make sure that `leave` is called, however the program ends.
package final class Screen {
    private let output: StandardStream
    private let input: Int32
    private var before: termios?
    private var isEntered = false

    package init(output: StandardStream = .output, input: Int32 = STDIN_FILENO) {
        (self.output, self.input) = (output, input)
    }

    deinit { leave() }

    /// Whether keys can be read.
    package var hasKeys: Bool { isatty(input) == 1 }

    package func enter() {
        guard !isEntered else { return }
        isEntered = true
        var mode = termios()
        if hasKeys, tcgetattr(input, &mode) == 0 {
            before = mode
            // Ctrl-C and Ctrl-Z still send their signals.
            mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(input, TCSADRAIN, &mode)
        }
        // Switches to the alternate buffer, and hides the cursor.
        output.write("\u{1B}[?1049h\u{1B}[?25l")
    }

    package func leave() {
        guard isEntered else { return }
        isEntered = false
        output.write("\u{1B}[?25h\u{1B}[?1049l")
        if var mode = before { tcsetattr(input, TCSADRAIN, &mode) }
        before = nil
    }

    /// Draws these lines from the top, over the old content; anything below them is erased.
    package func draw(_ lines: [String]) {
        guard isEntered else { return }
        // No newline after the last one: it would scroll a full screen.
        output.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\n") + "\u{1B}[J")
    }

    /// The keys pressed since the last call; doesn't wait. nil if the terminal is gone.
    package func keys() -> [UInt8]? {
        var room = [UInt8](repeating: 0, count: 64)
        var watched = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
        guard hasKeys, poll(&watched, 1, 0) > 0 else { return [] }
        let count = read(input, &room, room.count)
        return count > 0 || (count < 0 && errno == EINTR) ? Array(room.prefix(max(0, count))) : nil
    }

    /// The number of lines and columns; 24 by 80 if unknown.
    package var size: (lines: Int, columns: Int) {
        var size = winsize()
        guard ioctl(output.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
            return (24, 80)
        }
        return (Int(size.ws_row), Int(size.ws_col))
    }
}
