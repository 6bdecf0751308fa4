import ModelContext
import TestSupport
import Testing

@Suite struct LineSplitterTests {
    private func pieces(_ text: [UInt8], limit: Int, cut: (Int) -> Int) -> [LineSplitter.Piece] {
        var splitter = LineSplitter(limit: limit)
        var pieces: [LineSplitter.Piece] = []
        var rest = text[...]
        while !rest.isEmpty {
            let count = min(rest.count, cut(rest.count))
            pieces += splitter.take(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return pieces + [splitter.end()].compactMap { $0 }
    }

    @Test func linesAreCutAndLongOnesSkipped() {
        let text = Array("ab\n\nabcdefg\nabcdef\nx".utf8)
        let wanted: [LineSplitter.Piece] = [
            .line(Array("ab".utf8)), .line([]), .tooLong, .line(Array("abcdef".utf8)), .line(Array("x".utf8)),
        ]
        #expect(pieces(text, limit: 6) { $0 } == wanted)
        #expect(pieces(text, limit: 6) { _ in 1 } == wanted)
        #expect(pieces([], limit: 6) { $0 } == [])
        #expect(pieces(Array("abcdefgh".utf8), limit: 6) { _ in 3 } == [.tooLong])
    }

    /// However the bytes arrive, the resulting lines are the same.
    @Test(arguments: 0..<50) func piecesAreThoseOfTheWhole(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let text = (0..<200).map { _ in UInt8.random(in: 0x09...0x0E, using: &random) }
        let limit = Int.random(in: 1...20, using: &random)
        var wanted = text.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.count > limit ? LineSplitter.Piece.tooLong : .line(Array(line))
        }
        if wanted.last == .line([]) { wanted.removeLast() }
        var cuts = SeededRandom(seed: seed + 1000)
        #expect(pieces(text, limit: limit) { _ in Int.random(in: 1...30, using: &cuts) } == wanted)
    }
}
