import HealthModel

/// Any stage, asked by a destination's: to give rows new versions, because the destination holds other content under
/// theirs or under higher ones, from a store that was lost or restored, for example. The answer is an empty page; the
/// head shows when it is done.
package struct Renewal: Query {
    package typealias Answer = EmptyPage
    package static let name = "renew"

    /// The highest version that the destination holds of any element from this producer: new versions are above it.
    package var above: SequenceNumber
    /// Parts of the changelog, each (after, until], whose rows need new versions.
    package var rows: [[SequenceNumber]]

    package init(above: SequenceNumber, rows: [[SequenceNumber]] = []) { (self.above, self.rows) = (above, rows) }

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

extension Query where Self == Renewal { package static func renew(_ renewal: Self) -> Self { renewal } }

/// The answer to a request that asks for no content.
package struct EmptyPage: PageContent, Equatable {
    package init() {}
}
