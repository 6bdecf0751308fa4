import Changelog
import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct CursorTests {
    private func next(_ cursor: inout Cursor, _ limit: AnchorVector, _ backfillBeyond: Int64?) throws -> Cursor.Window {
        let window = cursor.nextWindow(limit: limit, backfillBeyond: backfillBeyond)
        return try #require(window)
    }

    @Test func goesBackToASequenceAndNeverForward() throws {
        var cursor = Cursor()
        cursor.anchor = AnchorVector(base: 90, exceptions: ["a": 40, "b": 95])
        cursor.backfill = [.init(from: 5, to: 20), .init(from: 45, to: 70), .init(from: 75, to: 80)]
        cursor.rewind(to: 50)
        #expect(cursor.anchor == AnchorVector(base: 50, exceptions: ["a": 40]))
        #expect(cursor.backfill == [.init(from: 5, to: 20), .init(from: 45, to: 50)])
        let before = cursor
        cursor.rewind(to: 60)
        #expect(cursor == before)
    }

    /// Whoever goes back lacks nothing that was consumed before, until the store is another one.
    @Test func remembersHowFarItCameBeforeItWentBack() throws {
        let head = StoreHead(store: "s", generation: "g", sequence: 90, first: 11)
        var cursor = Cursor()
        cursor.begin(at: head)
        cursor.anchor = AnchorVector(base: 90, exceptions: ["off": 40])
        #expect(cursor.reached(besides: ["off"]) == 90)
        cursor.rewind(to: .beginning, besides: ["off"])
        #expect(cursor.frontier == 0 && cursor.reached(besides: []) == 90)
        #expect(Cursor(wireValue: try Value(json: cursor.wireValue.json().utf8)) == cursor)
        let window = try next(&cursor, AnchorVector(base: 100), nil)
        cursor.consumed(window, through: 50)
        cursor.rewind(to: 20)
        #expect(cursor.frontier == 20 && cursor.reached(besides: []) == 90)
        let rest = try next(&cursor, AnchorVector(base: 100), nil)
        cursor.consumed(rest, through: 100)
        #expect(cursor.reached(besides: []) == 100)
        cursor.rewind(to: .beginning)
        cursor.reset(to: StoreHead(store: "t", generation: "h", sequence: 80, first: 60))
        #expect(cursor.reached(besides: []) == 59)
    }

    @Test func asksForWhatIsNewAndThenForNothing() throws {
        var cursor = Cursor()
        let window = try next(&cursor, AnchorVector(base: 10), nil)
        #expect(window.after == .beginning && window.until == AnchorVector(base: 10) && !window.isBackfill)
        cursor.consumed(window, through: 4)
        #expect(cursor.frontier == 4)
        let rest = try next(&cursor, AnchorVector(base: 10), nil)
        #expect(rest.after == AnchorVector(base: 4))
        cursor.consumed(rest, through: 10)
        let none = cursor.nextWindow(limit: AnchorVector(base: 10), backfillBeyond: nil)
        #expect(none == nil)
        #expect(cursor.frontier == 10)
    }

    @Test func farBehindGoesLiveAndFetchesTheRestInBetween() throws {
        var cursor = Cursor()
        let first = try next(&cursor, AnchorVector(base: 1000), 100)
        #expect(first.isBackfill)
        #expect(cursor.anchor == AnchorVector(base: 1000) && cursor.frontier == 0)
        cursor.consumed(first, through: 300)
        #expect(cursor.frontier == 300)
        // New changes are consumed first.
        let live = try next(&cursor, AnchorVector(base: 1010), 100)
        #expect(!live.isBackfill && live.after == AnchorVector(base: 1000))
        cursor.consumed(live, through: 1010)
        #expect(cursor.frontier == 300)
        let back = try next(&cursor, AnchorVector(base: 1010), 100)
        #expect(back.isBackfill && back.after == AnchorVector(base: 300) && back.until == AnchorVector(base: 1000))
        cursor.consumed(back, through: 1000)
        #expect(cursor.backfill.isEmpty && cursor.frontier == 1010)
    }

    @Test func rangesThatMeetAreOne() throws {
        var cursor = Cursor()
        let first = try next(&cursor, AnchorVector(base: 1000), 100)
        cursor.consumed(first, through: 200)
        let second = try next(&cursor, AnchorVector(base: 1000), 100)
        // No live change has been consumed since, so the next range begins where the previous one ends.
        _ = cursor.nextWindow(limit: AnchorVector(base: 3000), backfillBeyond: 100)
        #expect(cursor.backfill.map(\.from) == [200] && cursor.backfill.map(\.to) == [3000])
        // The answer to a window that was requested before the ranges met is still used.
        cursor.consumed(second, through: 900)
        #expect(cursor.backfill.map(\.from) == [900])
    }

    /// Whatever the windows, limits and interruptions, each row is consumed, and nothing below the frontier is missing.
    @Test func consumesEveryRowInTheEnd() {
        var random = SeededRandom(seed: 2)
        for round in 0..<300 {
            var cursor = Cursor()
            var consumed: Set<SequenceNumber> = []
            var head: SequenceNumber = 0
            var held: SequenceNumber = 0
            var steps = 0
            while consumed.count < 400, steps < 20_000 {
                steps += 1
                if head < 400, Int.random(in: 0..<3, using: &random) == 0 {
                    head = min(400, head + Int64.random(in: 1...150, using: &random))
                }
                // Rows of type "x" are those with even numbers, and may be held back.
                held = head == 400 ? 400 : max(held, SequenceNumber.random(in: 0...head, using: &random))
                let limit = AnchorVector(base: head, exceptions: ["x": min(held, head)])
                guard let window = cursor.nextWindow(limit: limit, backfillBeyond: 60) else { continue }
                // The answer may be lost, or may end at any point within the window.
                if Int.random(in: 0..<4, using: &random) == 0 { continue }
                let lower = window.after.minimum
                let upper = window.until.maximum
                let through = SequenceNumber.random(in: min(lower + 1, upper)...upper, using: &random)
                for row in (1...400).map({ SequenceNumber($0) }) where row <= through {
                    let type = row.value.isMultiple(of: 2) ? "x" : "y"
                    if row > window.after[type], row <= window.until[type] { consumed.insert(row) }
                }
                cursor.consumed(window, through: through)
                let frontier = cursor.frontier
                if let missing = (1...400).map({ SequenceNumber($0) }).first(where: {
                    $0 <= frontier && !consumed.contains($0)
                }) {
                    Issue.record("round \(round): row \(missing) is missing below the frontier \(frontier)")
                    return
                }
            }
            #expect(consumed.count == 400, "round \(round)")
        }
    }

    @Test func travelsWhole() throws {
        var cursor = Cursor()
        cursor.reset(to: StoreHead(store: "s", generation: "g", sequence: 5000))
        _ = cursor.nextWindow(limit: AnchorVector(base: 5000, exceptions: ["a": 4000]), backfillBeyond: 100)
        #expect(cursor.snapshotUntil == 5000 && !cursor.backfill.isEmpty)
        #expect(Cursor(wireValue: try Value(json: cursor.wireValue.json().utf8)) == cursor)
        #expect(Cursor(wireValue: Cursor().wireValue) == Cursor())
        #expect(Cursor(wireValue: ["anchor": 1, "backfill": [[1]]]) == nil)
    }
}
