import HealthModel

/// The observer: for each type, which dates have samples, and which samples came late.
package struct CompletenessQuery: Query {
    package typealias Answer = CompletenessPage
    package static let name = "completeness"

    /// null for all users.
    @OrNull package var user: String?
    /// The hour at which a night ends, by type.
    @IfReadable package var nights: [String: Int64]?
    @IfReadable package var `continue`: TypePosition?
}

extension Query where Self == CompletenessQuery {
    package static func completeness(user: String?, nights: [String: Int64], after: TypePosition? = nil) -> Self {
        Self(user: user, nights: nights, continue: after)
    }
}

/// Where an answer about completeness continues: after this type of this user. Both are empty at the beginning.
package struct TypePosition: Codable, Sendable, Equatable {
    package var user: String
    package var type: String

    package init(user: String, type: String) { (self.user, self.type) = (user, type) }
}

/// Which dates have samples, by type; sorted by user and type. A type with long columns takes several consecutive rows.
package struct CompletenessPage: PageContent, Equatable {
    package var types: [TypeDaysRow]
    /// Set on the last part if there is more, or while counting is still in progress.
    package var `continue`: TypePosition?

    package init(types: [TypeDaysRow], continue position: TypePosition? = nil) {
        self.types = types
        `continue` = position
    }
}

/// A user's samples of one type.
package struct TypeDaysRow: Codable, Sendable, Equatable {
    /// Stretches where samples of one source cover the same time, and no export has them together.
    package struct Overlaps: Codable, Sendable, Equatable {
        package var stretches: Int64
        /// The beginning of the first and the end of the last.
        package var first: Instant
        package var last: Instant

        package init(stretches: Int64, first: Instant, last: Instant) {
            (self.stretches, self.first, self.last) = (stretches, first, last)
        }
    }

    package var user: String
    package var type: String
    package var sequence: SequenceNumber
    package var samples: Int64
    @OrNull package var firstStart: Instant?
    @OrNull package var lastEnd: Instant?
    /// The first and last date of each run of consecutive dates with samples, in days since 1970.
    @Packed package var runs: [Int32]
    /// Dates with samples that HealthKit stored more than a day after they ended, how many such samples there are, and
    /// the longest delay in seconds.
    @Packed package var lateDay: [Int32]
    @Packed package var lateCount: [Int32]
    @Packed package var lateLongest: [Int64]
    /// In a type's first row; nil if there are none.
    package var overlaps: Overlaps?

    package init(
        user: String, type: String, sequence: SequenceNumber, samples: Int64, firstStart: Instant?, lastEnd: Instant?,
        runs: [Int32], lateDay: [Int32], lateCount: [Int32], lateLongest: [Int64], overlaps: Overlaps? = nil
    ) {
        (self.user, self.type, self.sequence, self.samples) = (user, type, sequence, samples)
        (self.firstStart, self.lastEnd, self.runs, self.lateDay) = (firstStart, lastEnd, runs, lateDay)
        (self.lateCount, self.lateLongest, self.overlaps) = (lateCount, lateLongest, overlaps)
    }
}
