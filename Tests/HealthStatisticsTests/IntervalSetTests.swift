import HealthModel
import HealthStatistics
import TestSupport
import Testing

@Suite struct IntervalSetTests {
    /// Against sets of whole numbers.
    @Test func equalsSetsOfNumbers() {
        var random = SeededRandom(seed: 7)
        func ranges() -> [Range<Int64>] {
            (0..<Int.random(in: 0...8, using: &random)).map { _ in
                let start = Int64.random(in: 0..<90, using: &random)
                return start..<start + Int64.random(in: 0...15, using: &random)
            }
        }
        func numbers(_ set: IntervalSet) -> Set<Int64> { Set(set.ranges.flatMap { Array($0) }) }
        for _ in 0..<500 {
            let (a, b) = (ranges(), ranges())
            let (first, second) = (Set(a.flatMap { Array($0) }), Set(b.flatMap { Array($0) }))
            #expect(numbers(IntervalSet(a)) == first)
            #expect(IntervalSet(a).length == Int64(first.count))
            #expect(numbers(IntervalSet(a).union(IntervalSet(b))) == first.union(second))
            #expect(numbers(IntervalSet(a).intersection(IntervalSet(b))) == first.intersection(second))
            #expect(numbers(IntervalSet(a).subtracting(IntervalSet(b))) == first.subtracting(second))
        }
    }
}
