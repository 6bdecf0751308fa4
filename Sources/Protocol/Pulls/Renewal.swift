import HealthModel

/// Rows of a producer's changelog that need new versions, because a destination holds other content under theirs or
/// under higher ones: from a store that was lost or restored, for example.
package struct Renewal: Codable, Sendable, Equatable {
    /// The highest version that the destination holds of any element from this producer: new versions are above it.
    package var above: SequenceNumber
    /// Parts of the changelog, each (after, until], whose rows need new versions.
    package var rows: [[SequenceNumber]]

    package init(above: SequenceNumber, rows: [[SequenceNumber]] = []) {
        self.above = above
        self.rows = rows
    }

    package struct Window: Sendable, Equatable {
        package var after: SequenceNumber
        package var through: SequenceNumber
    }

    package var windows: [Window] {
        rows.compactMap { ends in
            guard let after = ends.first, let through = ends.last, after < through else { return nil }
            return Window(after: after, through: through)
        }
    }

    /// JSON keeps integers exactly up to 2⁵³. A destination that holds versions close to that is at fault, and following
    /// it would leave no room for those to come.
    package static let highest = SequenceNumber(1 << 52)

    package var isPossible: Bool { above >= .beginning && above <= Self.highest }
}
