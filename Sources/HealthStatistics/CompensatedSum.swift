/// A sum whose rounding errors don't pile up (Neumaier's variant of Kahan's algorithm).
package struct CompensatedSum: Sendable {
    private var sum = 0.0
    private var lost = 0.0

    package init() {}

    package mutating func add(_ term: Double) {
        let next = sum + term
        lost += abs(sum) >= abs(term) ? (sum - next) + term : (term - next) + sum
        sum = next
    }

    package var value: Double { sum + lost }
}
