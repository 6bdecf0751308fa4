import HealthModel

/// What is compared: everything, or what a person asks about.
package struct ProofScope: Sendable, Equatable {
    /// Whom to compare, each with the stretch of time in which samples begin; nil for everybody and all of it.
    package var users: [String: Range<Instant>]?
    package var from: LocalDay?
    package var to: LocalDay?

    var isWhole: Bool { users == nil && from == nil && to == nil }

    func holds(user: String) -> Bool { users.map { $0[user] != nil } ?? true }

    /// - Parameter day: that of a document; nil if it belongs to none, or if that is unknown.
    func holds(_ day: LocalDay?) -> Bool {
        guard let day else { return from == nil && to == nil }
        return from.map { $0 <= day } ?? true && to.map { day <= $0 } ?? true
    }

    /// The ids of the samples meant.
    func ids(of user: String) -> IDRange { IDRange(users?[user] ?? .distantPast ..< .distantFuture) }
}

/// The ids of samples that begin in a time range, judging by the ids' first 48 bits. These can't distinguish times
/// before 1970: they are all the first millisecond of 1970, which is in every range that begins before it.
package struct IDRange: Sendable, Equatable {
    private let first: UInt64
    /// Exclusive; nil if there is no end.
    private let end: UInt64?

    package init(_ span: Range<Instant>) {
        first = span.lowerBound <= .epoch ? 0 : UInt64(span.lowerBound.microseconds / 1000) << 16
        end =
            span.isEmpty
            ? first
            : span.upperBound == .distantFuture ? nil : UInt64(max(1, span.upperBound.microseconds / 1000)) << 16
    }

    /// The last id before the range; nil if there is none.
    package var before: SampleID? { first == 0 ? nil : SampleID(high: first - 1, low: .max) }

    /// - Parameter id: nil if it isn't a UUID: such an id is in the range that has no limits.
    package func holds(_ id: SampleID?) -> Bool {
        guard let id else { return first == 0 && end == nil }
        return id.high >= first && isBelowEnd(id)
    }

    package func isBelowEnd(_ id: SampleID) -> Bool { end.map { id.high < $0 } ?? true }
}
