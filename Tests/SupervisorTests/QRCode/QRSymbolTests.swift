import CQREncode
import QRCode
import Testing

/// QR codes for a phone's camera, as text.
@Suite struct QRSymbolTests {
    private static let text =
        "com.HealthExport://automation?url=https://health.example.org/v1/health-auto-export&name=ä"

    /// What a camera sees: the modules of the drawing, including the quiet zone.
    private static func seen(_ drawing: String, _ ink: QRInk) -> [[Bool]] {
        drawing.split(separator: "\n").flatMap { line -> [[Bool]] in
            let cells = line.replacing(#/\u{1B}\[[0-9;]*m/#, with: "")
            let isInked = ink != .lightText
            return [
                cells.map { "█▀".contains($0) == isInked }, cells.map { "█▄".contains($0) == isInked },
            ]
        }
    }

    @Test func theModulesAreThoseOfTheLibrary() throws {
        let symbol = try #require(QRSymbol(Self.text))
        let code = try #require(QRcode_encodeString8bit(Self.text, 0, QR_ECLEVEL_L))
        defer { QRcode_free(code) }
        #expect(symbol.width == Int(code.pointee.width))
        for row in 0..<symbol.width {
            for column in 0..<symbol.width {
                let module = code.pointee.data[row * symbol.width + column]
                #expect(symbol.isDark(row: row, column: column) == (module & 1 == 1))
            }
        }
        // The three corners by which a scanner finds the code: dark around light around dark.
        for (row, column) in [(0, 0), (0, symbol.width - 7), (symbol.width - 7, 0)] {
            #expect((0..<7).allSatisfy { symbol.isDark(row: row, column: column + $0) })
            #expect((1..<6).allSatisfy { !symbol.isDark(row: row + 1, column: column + $0) })
            #expect(symbol.isDark(row: row + 3, column: column + 3))
        }
    }

    @Test(arguments: [QRInk.blackOnWhite, .darkText, .lightText])
    func whatIsDrawnIsTheSymbolInItsQuietZone(ink: QRInk) throws {
        let symbol = try #require(QRSymbol(Self.text))
        let drawing = symbol.drawn(ink)
        #expect(drawing.contains("\u{1B}") == (ink == .blackOnWhite))
        let seen = Self.seen(drawing, ink)
        #expect(symbol.columns == symbol.width + 8)
        // Each line of text draws two rows, so there is one more light row than the quiet zone needs.
        #expect(seen.count == symbol.columns + 1)
        for (row, modules) in seen.enumerated() {
            #expect(modules.count == symbol.columns)
            for (column, isDark) in modules.enumerated() {
                #expect(isDark == symbol.isDark(row: row - 4, column: column - 4), "\(row) \(column)")
            }
        }
        #expect(seen.prefix(4).allSatisfy { !$0.contains(true) } && seen.suffix(4).allSatisfy { !$0.contains(true) })
        #expect(seen.allSatisfy { !$0.prefix(4).contains(true) && !$0.suffix(4).contains(true) })
    }

    /// The drawing works with any theme: each line sets both colours itself, and ends by restoring the terminal's own.
    @Test func coloursAreSetAndTakenBackInEachLine() throws {
        let lines = try #require(QRSymbol("hello")).drawn(.blackOnWhite).split(separator: "\n")
        #expect(lines.count == 15)
        for line in lines { #expect(line.hasPrefix("\u{1B}[38;5;16;48;5;231m") && line.hasSuffix("\u{1B}[0m")) }
    }

    @Test(
        arguments: [
            (nil, QRInk.lightText), ("15;0", .lightText), ("15;8", .lightText), ("0;15", .darkText), ("0;7", .darkText),
            ("0;default;15", .darkText), ("0;default", .lightText), ("", .lightText),
        ] as [(String?, QRInk)])
    func withoutColoursTheTerminalSaysWhatItHas(_ colours: String?, _ ink: QRInk) {
        #expect(QRInk.plain(environment: colours.map { ["COLORFGBG": $0] } ?? [:]) == ink)
    }

    @Test func whatNoCodeHoldsIsNone() {
        #expect(QRSymbol("") == nil && QRSymbol("a\0b") == nil)
        #expect(QRSymbol(String(repeating: "x", count: 2_953)) != nil)
        #expect(QRSymbol(String(repeating: "x", count: 2_954)) == nil)
    }
}
