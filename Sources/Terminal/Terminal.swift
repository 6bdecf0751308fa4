import Foundation
import Glibc
import Logging

/// What the terminal behind a stream can display.
package struct Terminal: Sendable, Equatable {
    package var isTerminal: Bool
    /// The number of columns; 80 if unknown.
    package var width: Int
    package var usesColor: Bool

    package init(isTerminal: Bool, width: Int = 80, usesColor: Bool = false) {
        (self.isTerminal, self.width, self.usesColor) = (isTerminal, width, usesColor)
    }

    /// Asks the system. Colour is used only on a terminal that isn't "dumb", and never when `NO_COLOR` is set
    /// (no-color.org).
    package init(
        _ stream: StandardStream, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        isTerminal = isatty(stream.descriptor) == 1
        var size = winsize()
        let hasSize = ioctl(stream.descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        width = hasSize ? Int(size.ws_col) : environment["COLUMNS"].flatMap { Int($0) }.map { max(1, $0) } ?? 80
        usesColor = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    package enum Style: String, Sendable {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case yellow = "33"
    }

    /// The text in that style, or unchanged if colour isn't wanted.
    package func styled(_ text: String, _ style: Style) -> String {
        usesColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}
