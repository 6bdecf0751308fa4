import HealthModel

/// The values of a figure on the days of a span. Pure.
package struct FigureOverDays: Equatable {
    /// The numbers in the order of the days; days without the figure are left out.
    package let numbers: [Double]

    package init(numbers: [Double]) { self.numbers = numbers }

    package var sum: Double { numbers.reduce(0, +) }
    package var mean: Double? { numbers.isEmpty ? nil : sum / Double(numbers.count) }

    /// The middle number, or the mean of the middle two.
    package var median: Double? {
        guard !numbers.isEmpty else { return nil }
        let sorted = numbers.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    package var value: Value {
        [
            "days": Value(numbers.count), "mean": Value(mean), "median": Value(median), "min": Value(numbers.min()),
            "max": Value(numbers.max()),
        ]
    }

    /// How the second span differs from the first, judged by their means. Null if either has no data; the ratio is also
    /// null if the first mean is 0.
    package static func difference(_ first: Self, _ second: Self) -> Value {
        guard let a = first.mean, let b = second.mean else { return .null }
        return ["ofMeans": .number(b - a), "ratioOfMeans": Value(a == 0 ? nil : b / a)]
    }
}
