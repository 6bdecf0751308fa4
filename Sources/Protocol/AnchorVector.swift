import HealthModel

/// How far something reaches in a changelog: one sequence number for all types, and a separate one for each type that
/// deviates from it.
///
/// A type deviates when the debouncer holds it back (weight for 5 minutes) while the others advance.
package struct AnchorVector: Sendable, Equatable {
    package var base: SequenceNumber
    package var exceptions: [String: SequenceNumber]

    package init(base: SequenceNumber, exceptions: [String: SequenceNumber] = [:]) {
        self.base = base
        self.exceptions = exceptions.filter { $0.value != base }
    }

    /// The position of a consumer without an anchor.
    package static let beginning = AnchorVector(base: .beginning)

    package subscript(type: String) -> SequenceNumber { exceptions[type] ?? base }

    /// The sequence that every type has reached.
    package var minimum: SequenceNumber { Swift.min(base, exceptions.values.min() ?? base) }
    package var maximum: SequenceNumber { Swift.max(base, exceptions.values.max() ?? base) }

    /// The sequence that every type except those in `types` has reached.
    package func minimum(besides types: Set<String>) -> SequenceNumber {
        types.isEmpty
            ? minimum
            : exceptions.filter { !types.contains($0.key) }.values.reduce(base) { Swift.min($0, $1) }
    }

    /// The position of a consumer at this anchor once it has seen everything up to `sequence` that is within `limit`.
    /// Never moves back.
    package func advanced(to sequence: SequenceNumber, within limit: AnchorVector) -> AnchorVector {
        let base = Swift.max(base, Swift.min(limit.base, sequence))
        var next: [String: SequenceNumber] = [:]
        for type in Set(exceptions.keys).union(limit.exceptions.keys) {
            next[type] = Swift.max(self[type], Swift.min(limit[type], sequence))
        }
        return AnchorVector(base: base, exceptions: next)
    }

    /// Whether `limit` allows this position to advance any further.
    package func isBehind(_ limit: AnchorVector) -> Bool {
        if base < limit.base { return true }
        return Set(exceptions.keys).union(limit.exceptions.keys).contains { self[$0] < limit[$0] }
    }
}

extension AnchorVector: Codable {
    private struct ByType: Codable {
        var base: SequenceNumber
        var types: [String: SequenceNumber]?
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The form isn't found by trial and error, since that would create an error for each vector that has types.
        if let base = try container.decode(Value.self).int {
            self.init(base: SequenceNumber(base))
        } else {
            let vector = try container.decode(ByType.self)
            self.init(base: vector.base, exceptions: vector.types ?? [:])
        }
    }

    /// A plain number when all types are at the same sequence.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if exceptions.isEmpty {
            try container.encode(base)
        } else {
            try container.encode(ByType(base: base, types: exceptions))
        }
    }
}
