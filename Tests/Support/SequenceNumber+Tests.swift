import HealthModel

/// Tests write sequence numbers as literals.
extension SequenceNumber: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self.init(value) }

    package static func + (sequence: SequenceNumber, count: Int64) -> SequenceNumber {
        SequenceNumber(sequence.value + count)
    }

    package static func random(
        in range: ClosedRange<SequenceNumber>, using generator: inout some RandomNumberGenerator
    ) -> SequenceNumber {
        SequenceNumber(.random(in: range.lowerBound.value...range.upperBound.value, using: &generator))
    }
}
