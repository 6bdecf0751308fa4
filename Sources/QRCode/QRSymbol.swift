import CQREncode

/// A QR code (ISO/IEC 18004): a square of dark and light modules that contains text.
package struct QRSymbol: Sendable, Equatable {
    /// Modules per side, without the quiet zone.
    package let width: Int
    /// The modules row by row, from the top.
    private let dark: [Bool]

    /// The smallest symbol that holds the text as UTF-8, with the least error correction (7 %): a screen has no
    /// scratches, and fewer modules can be larger.
    /// - Returns: nil for an empty text, one that contains a NUL, and one of more than 2,953 bytes, which no symbol can
    ///   hold.
    package init?(_ text: String) {
        guard !text.isEmpty, !text.utf8.contains(0), text.utf8.count <= 2_953 else { return nil }
        // Version 0 picks the smallest version that is large enough. Given the checks above, this fails only when out
        // of memory.
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        let count = width * width
        guard let data = code.pointee.data else { return nil }
        // The lowest bit says whether a module is dark; the others describe its purpose.
        dark = UnsafeBufferPointer(start: data, count: count).map { $0 & 1 == 1 }
    }

    /// Whether a module is dark; modules outside the symbol aren't.
    package func isDark(row: Int, column: Int) -> Bool {
        guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
        return dark[row * width + column]
    }
}
