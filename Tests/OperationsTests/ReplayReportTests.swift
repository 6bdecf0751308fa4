import Inspection
import Logging
import Protocol
import Testing

/// How `healthbus replay` says that a handler couldn't compute days.
@Suite struct ReplayReportTests {
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
