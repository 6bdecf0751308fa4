import HealthModel
import HomeAssistantStage
import Testing

@Suite struct DateSetTests {
    @Test func yearsAreAFewRanges() {
        var dates = DateSet()
        for day in (-400...20_000) where day != 7 { dates.insert(day) }
        #expect(dates.contains(-400) && !dates.contains(7) && !dates.contains(20_001))
        #expect(dates.wireValue.array?.count == 4)
        #expect(DateSet(wireValue: dates.wireValue) == dates)
        for day in -400...20_000 { dates.remove(day) }
        #expect(dates.isEmpty && DateSet(wireValue: dates.wireValue).isEmpty)
    }

    @Test(arguments: [Value.null, [1], [3, 2], [-5, -4], ["x", "y"]])
    func whatIsNotASetIsEmpty(_ value: Value) { #expect(DateSet(wireValue: value).isEmpty) }
}
