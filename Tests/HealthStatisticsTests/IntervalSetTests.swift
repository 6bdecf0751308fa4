import HealthModel
import HealthStatistics
import TestSupport
import Testing

@Suite struct IntervalSetTests {
    /// Compares the results with sets of whole numbers.
    @Test func equalsSetsOfNumbers() {
        var random = SeededRandom(seed: 7)
        func ranges() -> [Range<Int64>] {
            (0..<Int.random(in: 0...8, using: &random)).map { _ in
                let start = Int64.random(in: 0..<90, using: &random)
                return start..<start + Int64.random(in: 0...15, using: &random)
            }
        }
        func numbers(_ set: IntervalSet) -> Set<Int64> { Set(set.ranges.flatMap { Array($0.microseconds) }) }
        for _ in 0..<500 {
            let (a, b) = (ranges(), ranges())
            let (first, second) = (Set(a.flatMap { Array($0) }), Set(b.flatMap { Array($0) }))
            #expect(numbers(IntervalSet(a.instants)) == first)
            #expect(IntervalSet(a.instants).length == .microseconds(first.count))
            #expect(numbers(IntervalSet(a.instants).union(IntervalSet(b.instants))) == first.union(second))
            #expect(
                numbers(IntervalSet(a.instants).intersection(IntervalSet(b.instants))) == first.intersection(second))
            #expect(numbers(IntervalSet(a.instants).subtracting(IntervalSet(b.instants))) == first.subtracting(second))
        }
    }
}
