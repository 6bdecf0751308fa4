import HealthModel
import HealthStore
import Testing

/// Whether two numbers are one value, and which of two forms of it counts.
@Suite struct StoredValueTests {
    @Test(arguments: [
        (1.0, 1.00001, true), (1.0, 1.0001, false), (0.0, 0.0, true), (0.0, 1e-9, false), (.nan, .nan, true),
        (.nan, 1.0, false), (.infinity, .infinity, true), (.infinity, 1e308, false), (-72.0, -72.001, true),
    ])
    func agreement(_ a: Double, _ b: Double, _ agrees: Bool) {
        #expect(StoredValue.agrees(a, b) == agrees)
        #expect(StoredValue.agrees(b, a) == agrees)
    }

    @Test func numbersComeInOrderAndThoseWithoutLast() {
        #expect(StoredValue.isAfter(2, 1))
        #expect(!StoredValue.isAfter(1, 1))
        #expect(StoredValue.isAfter(.nan, 1))
        #expect(!StoredValue.isAfter(.nan, .nan))
    }

    @Test func thePrintedFormHasFewerDigits() {
        #expect(StoredValue.isPlainer(72.5, than: 72.500001))
        #expect(!StoredValue.isPlainer(72.500001, than: 72.5))
        #expect(StoredValue.isPlainer(1, than: .nan))
        // Of two forms that are equally long, the same one is always taken.
        #expect(StoredValue.isPlainer(1.25, than: 1.26) != StoredValue.isPlainer(1.26, than: 1.25))
    }
}

@Suite struct TimeSpansTests {
    @Test func neighboursAreJoinedInWhateverOrderTheyCome() {
        var spans = TimeSpans()
        for span: ClosedRange<Int64> in [5000...5100, 0...60, 600...660, 5200...5300, 61...99] { spans.add(span) }
        spans.join()
        #expect(spans.spans == [0...660, 5000...5300])
    }

    @Test func whatIsFarApartStaysApart() {
        var spans = TimeSpans()
        spans.add(0...10)
        spans.add(611...620)
        spans.join()
        #expect(spans.spans == [0...10, 611...620])
    }
}

/// Which of several forms of the same measurements count.
@Suite struct CondensedFormsTests {
    private let parts = [SampleForm(start: 0, end: 60, value: 10), SampleForm(start: 60, end: 120, value: 20)]

    private func replaced(_ forms: [SampleForm], _ style: CondensedForms.Style = .sum) -> [Bool]? {
        CondensedForms.outcome(forms, style)?.replaced
    }

    @Test func aSampleWithTheSumOfOthersStandsForThem() {
        #expect(replaced(parts + [SampleForm(start: 0, end: 120, value: 30)]) == [true, true, false])
    }

    @Test func anotherSumIsAnotherMeasurement() {
        #expect(replaced(parts + [SampleForm(start: 0, end: 120, value: 31)]) == [false, false, false])
    }

    @Test func averagedValuesMustBeEqual() {
        let equal = parts.map { SampleForm(start: $0.start, end: $0.end, value: 70) }
        #expect(replaced(equal + [SampleForm(start: 0, end: 120, value: 70)], .equal) == [true, true, false])
        #expect(replaced(parts + [SampleForm(start: 0, end: 120, value: 70)], .equal) == [false, false, false])
    }

    @Test func theFormThatWasSeenLastCounts() {
        func seen(_ form: SampleForm, by number: Int, at moment: Int64) -> SampleForm {
            SampleForm(start: form.start, end: form.end, value: form.value, imports: [number], exported: moment)
        }
        let whole = SampleForm(start: 0, end: 120, value: 30)
        let later = parts.map { seen($0, by: 2, at: 2000) }
        #expect(replaced(later + [seen(whole, by: 1, at: 1000)]) == [false, false, true])
        // What one export contains together exists together.
        let together = CondensedForms.outcome(later + [seen(whole, by: 2, at: 2000)], .sum)
        #expect(together?.replaced == [false, false, false])
        #expect(together?.together == [0...120])
    }

    @Test func onlyOverlapsMayBeForms() {
        #expect(!CondensedForms.mayCondense(parts))
        #expect(CondensedForms.mayCondense(parts + [SampleForm(start: 0, end: 120, value: 1)]))
        // Equal times are equal keys.
        #expect(!CondensedForms.mayCondense([parts[0], parts[0]]))
    }

    @Test func overlapsOfDifferentImportsAreJoined() {
        let forms = [
            SampleForm(start: 0, end: 60, value: 1, imports: [1]),
            SampleForm(start: 30, end: 90, value: 1, imports: [2]),
            SampleForm(start: 80, end: 100, value: 1, imports: [3]), SampleForm(start: 95, end: 99, value: 1),
        ]
        #expect(CondensedForms.overlaps(forms) == [0...100])
        #expect(
            CondensedForms.overlaps(Array(forms[..<1]) + [SampleForm(start: 5, end: 9, value: 1, imports: [1])]) == [])
    }
}
