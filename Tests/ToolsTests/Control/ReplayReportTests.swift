import Control
import HealthModel
import Logging
import Protocol
import Testing

/// How `healthbus replay` names days: those it processes, and those that a handler couldn't compute.
@Suite struct ReplayReportTests {
    /// The day after the last one is requested because the last night ends on it, but it isn't named.
    @Test func aReplayNamesDaysWithSamples() throws {
        func day(_ number: Int) -> LocalDay { LocalDay(year: 2025, month: 4, day: number) }
        func span(_ from: Int, _ through: Int?) -> ReplaySpan? {
            ReplaySpan(from: day(from), through: through.map(day), samples: day(2)...day(6))
        }
        for through in [nil, 7, 20] {
            #expect(span(1, through)?.days == day(2)...day(7) && span(1, through)?.shown == day(2)...day(6))
        }
        #expect(span(3, 4)?.days == day(3)...day(4) && span(3, 4)?.shown == day(3)...day(4))
        #expect(span(7, nil)?.days == day(7)...day(7) && span(7, nil)?.shown == day(7)...day(7))
        #expect(span(8, nil) == nil && span(1, 1) == nil)
    }

    @Test func failedDaysAreNamed() {
        #expect(ReplayReport(revised: 3).failure == nil)
        let one = ReplayReport(revised: 0, failed: ["2025-03-10"]).failure
        #expect(one?.message == "2025-03-10 couldn't be computed" && one?.hint == "'healthbus doctor' says why")
        #expect(one?.code == .failed)
        let two = ReplayReport(revised: 0, failed: ["2025-03-10", "2025-03-12"]).failure
        #expect(two?.message == "2 days couldn't be computed: 2025-03-10, 2025-03-12")
        let many = ReplayReport(revised: 0, failed: (10...29).map { "2025-03-\($0)" }).failure
        #expect(many?.message.hasPrefix("20 days couldn't be computed: 2025-03-10, ") == true)
        #expect(many?.message.hasSuffix(", 2025-03-14 and 15 more") == true)
    }
}
