/// How many columns of a terminal a text takes up, roughly following the East Asian Width property (UAX #11).
package enum DisplayWidth {
    package static func of(_ text: String) -> Int {
        // In plain ASCII, by far the most common case, each byte takes one column.
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// 0, 1 or 2. A cluster of joined emoji, or a letter with its accents, is one glyph.
    package static func of(_ character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            // This character selects the emoji form of what would otherwise be a text symbol.
            if scalar.value == 0xFE0F, width > 0 { return 2 }
            width = max(width, of(scalar))
        }
        return width
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1F1E6...0x1F1FF, 0x20000...0x3FFFD,
    ]

    /// The text cut to this many columns, with "…" where something was cut off.
    package static func truncated(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        var out = ""
        var used = 0
        for character in text {
            let next = of(character)
            if used + next > width - 1 { break }
            out.append(character)
            used += next
        }
        return width > 0 ? out + "…" : ""
    }
}
