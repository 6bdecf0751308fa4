import Foundation
import HealthModel

/// A set of dates, stored as ranges: a person's years take only a few. Pure.
package struct DateSet: Equatable, Sendable {
    private var indexes = IndexSet()

    /// Shifts any date that a row may have to a positive number, since an `IndexSet` can't hold negative ones.
    private static let offset = 1_000_000

    package init() {}

    /// - Parameter wireValue: in the form of `wireValue`; anything else is left out.
    package init(wireValue: Value) {
        let numbers = (wireValue.array ?? []).compactMap(\.int)
        for index in stride(from: 0, to: numbers.count - 1, by: 2) {
            let (first, last) = (numbers[index], numbers[index + 1])
            if first >= 0, first <= last { indexes.insert(integersIn: Int(first)...Int(last)) }
        }
    }

    /// The first and the last number of each range, one after the other.
    package var wireValue: Value {
        .array(indexes.rangeView.flatMap { [.integer(Int64($0.lowerBound)), .integer(Int64($0.upperBound - 1))] })
    }

    package var isEmpty: Bool { indexes.isEmpty }

    /// - Parameter day: days since 1970-01-01, at least -1,000,000.
    package func contains(_ day: Int) -> Bool { indexes.contains(day + Self.offset) }
    package mutating func insert(_ day: Int) { indexes.insert(day + Self.offset) }
    package mutating func remove(_ day: Int) { indexes.remove(day + Self.offset) }
}
