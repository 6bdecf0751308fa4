/// A sum whose rounding errors don't accumulate (Neumaier's variant of Kahan's algorithm).
public struct CompensatedSum: Sendable {
    private var sum = 0.0
    private var lost = 0.0

    /// Zero.
    public init() {}

    /// Adds one term.
    public mutating func add(_ term: Double) {
        let next = sum + term
        lost += abs(sum) >= abs(term) ? (sum - next) + term : (term - next) + sum
        sum = next
    }

    /// The sum of all terms.
    public var value: Double { sum + lost }
}
