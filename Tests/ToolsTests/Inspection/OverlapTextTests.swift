import HealthModel
import Inspection
import Testing

/// How `healthbus check` describes samples that cover the same time.
@Suite struct OverlapTextTests {
    private static let steps = "HKQuantityTypeIdentifierStepCount"

    @Test func checkSaysWhereFormsOverlap() {
        let day = LocalDay(year: 2025, month: 3, day: 30)
        let one = TypeDays.Overlaps(stretches: 1, first: day, last: day)
        #expect(
            one.text(Self.steps)
                == "StepCount overlap: 1 stretch where samples of one source cover the same time but no export has them "
                + "together, on 2025-03-30: both count")
        let more = TypeDays.Overlaps(stretches: 3, first: day, last: day.adding(days: 2))
        #expect(more.text(Self.steps).contains("3 stretches where"))
        #expect(more.text(Self.steps).contains(", from 2025-03-30 to 2025-04-01: both count"))
        #expect(more.value == ["stretches": 3, "firstDay": "2025-03-30", "lastDay": "2025-04-01"])
    }
}
