import HealthModel

/// Why a sample can't be true, without giving its value. The caller's rule is applied, within limits that no sample
/// from any channel may exceed.
enum SampleGuard {
    static func reason(
        start: Int64, end: Int64, value: Double, rule: (Double, Instant, Instant) -> String?
    ) -> String? {
        let first = Instant(microseconds: start)
        let last = Instant(microseconds: end)
        if end < start { return "it ends before it starts" }
        guard SampleTimes.mayStart(first), last <= SampleTimes.latest || last == SampleTimes.goesOn else {
            return "its dates are out of range"
        }
        guard last == SampleTimes.goesOn || end - start <= SampleTimes.longest else {
            return "it lasts longer than any sample can"
        }
        return rule(value, first, last)
    }
}
