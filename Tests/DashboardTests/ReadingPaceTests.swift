import DashboardStage
import HealthModel
import Testing

/// When the dashboard reads new data.
struct ReadingPaceTests {
    private let begin = MonotonicTime(microseconds: 1_000_000_000)

    /// A pace that has read once, at `begin`.
    private var rested: ReadingPace {
        var pace = ReadingPace()
        _ = pace.begin()
        pace.read(at: begin)
        return pace
    }

    @Test func theFirstReadingComesAtOnce() {
        #expect(ReadingPace().wait(isWatched: false, at: begin) == .zero)
    }

    @Test func atRestItIsReadRegularly() {
        #expect(rested.wait(isWatched: true, at: begin + .seconds(10)) == .seconds(50))
        #expect(rested.wait(isWatched: true, at: begin + .seconds(70)) == .zero)
    }

    /// However often something changes, a dashboard that nobody watches reads it only once in a while.
    @Test func anImportIsReadSeldomWhileNobodyLooks() {
        var pace = rested
        for second in 5..<20 { pace.heard(at: begin + .seconds(second)) }
        #expect(pace.wait(isWatched: false, at: begin + .seconds(20)) == .seconds(15))
        #expect(pace.wait(isWatched: true, at: begin + .seconds(20)) == .zero)
        #expect(pace.wait(isWatched: false, at: begin + .seconds(36)) == .zero)
        #expect(pace.begin() == begin + .seconds(5))
        pace.read(at: begin + .seconds(36))
    }

    /// Changes that arrive during a read aren't forgotten, nor are those that a failed read would have covered.
    @Test func nothingIsForgotten() {
        var pace = rested
        pace.heard(at: begin + .seconds(1))
        let since = pace.begin()
        pace.heard(at: begin + .seconds(2))
        pace.read(at: begin + .seconds(3))
        #expect(pace.wait(isWatched: true, at: begin + .seconds(3)) == .zero)
        _ = pace.begin()
        pace.failed(at: begin + .seconds(4), newSince: since)
        #expect(pace.isFailing && pace.isSilent)
        #expect(pace.wait(isWatched: true, at: begin + .seconds(5)) == .seconds(1))
        #expect(pace.wait(isWatched: true, at: begin + .seconds(6)) == .zero)
    }

    /// A consolidator that is heard again is asked at once, so that nobody is shown what is older than its answer.
    @Test func aConsolidatorThatIsBackIsAskedAtOnce() {
        var pace = rested
        pace.failed(at: begin + .seconds(4), newSince: pace.begin())
        pace.back()
        #expect(!pace.isSilent && pace.isFailing)
        #expect(pace.wait(isWatched: false, at: begin + .seconds(4)) == .zero)
        pace.read(at: begin + .seconds(5))
        #expect(!pace.isFailing)
    }
}
