import HealthModel

/// What one request to the stack brings, in columns, before the store has looked at it.
///
/// An item is what the request lists: a sample, a metric's entry, a workout, a deletion. Items count from 1, through the whole request. `line` of a
/// record or of an input that couldn't be understood is its item's number, so that the answer can say what became of each.
package struct PushedChanges: Sendable {
    /// Samples, values in canonical units. Statistics have types of their own (`HealthType.statistics(of:)`).
    package var records = RecordBatch()
    /// HealthKit UUIDs of samples that were deleted.
    package var deleted: [SampleID] = []
    /// The items of `deleted`, one each.
    package var deletedItems: [Int64] = []
    /// Items that couldn't be understood.
    package var quarantined: [QuarantinedInput] = []
    /// Whose samples the request says they are, if it does.
    package var user: String?
    /// Items of the request, whatever became of them.
    package var items: Int64 = 0

    package init() {}
}

/// A request whose body as a whole can't be taken: nothing of it was.
package struct PushError: Error, Equatable, CustomStringConvertible {
    /// What is wrong and where, without health values: "the body isn't JSON: malformed JSON at byte 12: a colon was expected".
    package let description: String
    /// The body is well-formed, but there is more in it than is taken at once.
    package let isTooLarge: Bool

    package init(_ description: String, isTooLarge: Bool = false) {
        self.description = description
        self.isTooLarge = isTooLarge
    }
}
