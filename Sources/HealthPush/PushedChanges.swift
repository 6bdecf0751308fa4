import HealthModel

/// What one request brings into the stack, in columns, before the store has seen it.
///
/// An item is one element that the request lists: a sample, a metric's entry, a workout, a deletion. Items are numbered
/// from 1 through the whole request. The `line` of a record, or of input that couldn't be understood, is its item's
/// number, so that the answer can give the outcome of each.
package struct PushedChanges: Sendable {
    /// Samples, with values in canonical units. Statistics have types of their own (`HealthType.statistics(of:)`).
    package var records = RecordBatch()
    /// HealthKit UUIDs of samples that were deleted.
    package var deleted: [SampleID] = []
    /// The items of `deleted`, one for each.
    package var deletedItems: [Int64] = []
    /// Items that couldn't be understood.
    package var quarantined: [QuarantinedInput] = []
    /// Whose samples they are according to the request, if it says.
    package var user: String?
    /// How many items the request has, whatever their outcome.
    package var items: Int64 = 0

    package init() {}
}

/// A request whose body can't be accepted as a whole: none of it was accepted.
package struct PushError: Error, Equatable, CustomStringConvertible {
    /// What is wrong and where, without health values: "the body isn't JSON: malformed JSON at byte 12: a colon was
    /// expected".
    package let description: String
    /// Whether the body is well-formed, but contains more than is accepted at once.
    package let isTooLarge: Bool

    package init(_ description: String, isTooLarge: Bool = false) {
        self.description = description
        self.isTooLarge = isTooLarge
    }
}
