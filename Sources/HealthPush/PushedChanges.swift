import HealthModel

/// The contents of one request, in columns, before they reach the store.
///
/// An item is one element that the request lists: a sample, a metric's entry, a workout, a deletion. Items are numbered
/// from 1 through the whole request. The `line` of a record, or of input that couldn't be understood, is the number of
/// its item, so that the answer can report the outcome for each item.
package struct PushedChanges: Sendable {
    /// Samples, with values in canonical units. Statistics have types of their own (`HealthType.statistics(of:)`).
    package var records = RecordBatch()
    /// HealthKit UUIDs of samples that were deleted.
    package var deleted: [SampleID] = []
    /// Those of `deleted` that stand for all samples of a food or of a blood pressure.
    package var deletedWholes: [SampleID] = []
    /// The item numbers of the entries in `deleted`.
    package var deletedItems: [Int64] = []
    /// Items that couldn't be understood.
    package var quarantined: [QuarantinedInput] = []
    /// The user whose samples these are, if the request says.
    package var user: String?
    /// What was taken as statistics though nothing in an item says that it is one: in a file, of all pieces so far.
    package var taken: [TakenStatistics] = []
    /// How many items the request has, whatever their outcome.
    package var items: Int64 = 0

    package init() {}

    /// Puts the most recently counted item into quarantine. Of a long one, the beginning is kept.
    mutating func quarantine(_ raw: UnsafeRawBufferPointer, _ reason: String) {
        let text = String(decoding: raw.prefix(4000), as: UTF8.self) + (raw.count > 4000 ? "…" : "")
        quarantined.append(QuarantinedInput(line: items, reason: reason, raw: text))
    }
}

/// Why a request's body can't be accepted as a whole; none of it was accepted.
package struct PushError: Error, Equatable, CustomStringConvertible {
    /// What is wrong and where, without health values: for example "the body isn't JSON: malformed JSON at byte 12: a
    /// colon was expected".
    package let description: String
    /// Whether the body is well-formed, but contains more than can be accepted at once.
    package let isTooLarge: Bool

    package init(_ description: String, isTooLarge: Bool = false) {
        (self.description, self.isTooLarge) = (description, isTooLarge)
    }
}
