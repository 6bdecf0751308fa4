/// How the dark modules of a code are drawn. Scanners expect dark on light; most, but not all, can also read light on
/// dark.
package enum QRInk: Sendable, Equatable {
    /// Black on white with escape codes, whatever the terminal's colors.
    case blackOnWhite
    /// For a terminal or paper whose text is darker than its background: dark modules are drawn.
    case darkText
    /// For a terminal whose text is lighter than its background: light modules are drawn.
    case lightText

    /// The ink to use without escape codes. Terminals that report their colors do so in `COLORFGBG`, as in "15;0": the
    /// last number is the background, of which 7 and 9 to 15 are light. Other terminals report nothing, and most are
    /// dark.
    package static func plain(environment: [String: String]) -> QRInk {
        let behind = environment["COLORFGBG"]?.split(separator: ";").last.flatMap { Int($0) }
        return behind.map { $0 == 7 || (9...15).contains($0) } == true ? .darkText : .lightText
    }
}

extension QRSymbol {
    /// The margin of light modules that scanners need to find the code: four, as the standard requires.
    package static let quietZone = 4

    /// How many columns of a terminal the drawing takes.
    package var columns: Int { width + 2 * Self.quietZone }

    /// The code as text, two rows of modules per line, since a character cell is about twice as high as it is wide.
    /// Each line ends with a newline.
    package func drawn(_ ink: QRInk) -> String {
        let (before, after) = ink == .blackOnWhite ? (Self.blackOnWhite, Self.usual) : ("", "")
        let sides = -Self.quietZone..<width + Self.quietZone
        return stride(from: sides.lowerBound, to: sides.upperBound, by: 2).map { row in
            let cells = sides.map { column -> Character in
                // The number of rows is odd, so the last line's lower half is light.
                let upper = isDark(row: row, column: column) != (ink == .lightText)
                let lower = isDark(row: row + 1, column: column) != (ink == .lightText)
                return upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")
            }
            return before + String(cells) + after + "\n"
        }.joined()
    }

    /// Two of the 256 colours that no theme changes: 16 is black, 231 white.
    private static let blackOnWhite = "\u{1B}[38;5;16;48;5;231m"
    private static let usual = "\u{1B}[0m"
}
