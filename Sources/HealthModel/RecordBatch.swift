/// Records as read from an input, in columns and without ids: this is what an importer passes to the store.
///
/// Values are already in their type's canonical unit (see `HealthType`); an unknown type keeps its own unit.
package struct RecordBatch: Sendable {
    // Dictionaries, in order of first appearance in this batch.
    package var types: [String] = []
    package var units: [String] = []
    package var origins: [Origin] = []

    // Columns, all with the same number of rows.
    /// Index into `types`.
    package var type: [Int32] = []
    /// Microseconds since 1970, as in `Instant`.
    package var start: [Int64] = []
    /// Likewise.
    package var end: [Int64] = []
    /// The value in the canonical unit, or the raw value of a category; NaN where there is no number (workouts,
    /// correlations, unknown category names).
    package var value: [Double] = []
    /// Index into `units`.
    package var unit: [Int32] = []
    /// Index into `origins`.
    package var origin: [Int32] = []
    /// When HealthKit stored it, seconds since 1970; 0 when unknown.
    package var created: [Int64] = []
    package var flags: [RecordFlags] = []
    /// The metadata as a JSON object; empty when there is none. A key that occurs with different values holds an array.
    package var metadata: TextColumn = TextColumn()
    /// JSON of whatever doesn't fit into the columns: a workout's body, the beats of a heart rate variability sample, a
    /// correlation's parts, or a category's unknown name; empty when there is none.
    package var payload: TextColumn = TextColumn()
    /// The sample's HealthKit UUID, where the channel provides it; otherwise an empty column or nil rows.
    package var healthKitUUID: [SampleID?] = []
    /// The line of the input on which the record begins.
    package var line: [Int64] = []
    /// Where pieces of the export end, in order; the first may have begun in an earlier batch.
    package var pieceEnds: [PieceEnd] = []

    package init() {}

    package var count: Int { type.count }
    /// The time at which a row's record begins.
    @inlinable package func startOf(_ row: Int) -> Instant { Instant(microseconds: start[row]) }
    /// When it ends.
    @inlinable package func endOf(_ row: Int) -> Instant { Instant(microseconds: end[row]) }
}

package struct RecordFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Entered by hand (`HKWasUserEntered`).
    package static let userEntered = RecordFlags(rawValue: 1)
    /// The record is part of a `Correlation`. Exports repeat such a record at the top level, so records of the two
    /// kinds claim rows separately.
    package static let correlationChild = RecordFlags(rawValue: 2)
    /// Never stored in HealthKit (`sourceType` manual).
    package static let manual = RecordFlags(rawValue: 4)
    /// Its sender rounds values (`HealthType.coarseness`), and leaves out when an instant ended: another record of the
    /// same sample may be more exact.
    package static let coarse = RecordFlags(rawValue: 8)
    /// Only of stored samples: the UUID came with a coarse record, and says nothing about how exact the value is.
    package static let lent = RecordFlags(rawValue: 16)
}

/// Input that couldn't be understood; it is kept together with its place and the reason.
package struct QuarantinedInput: Sendable, Equatable {
    /// Line of the input; 0 when unknown.
    package var line: Int64
    /// What is wrong, without health values: "startDate isn't a date".
    package var reason: String
    /// The element as it was, at most 4 KiB.
    package var raw: String

    package init(line: Int64, reason: String, raw: String) { (self.line, self.reason, self.raw) = (line, reason, raw) }
}

/// One ring summary from an export's `ActivitySummary`: Apple's own figures for a day, kept beside ours.
package struct ActivitySummaryRecord: Sendable, Equatable {
    /// The local date, "2025-03-30".
    package var date: String
    /// The attributes as a JSON object of numbers in canonical units (kcal, min, h).
    package var payload: String

    package init(date: String, payload: String) { (self.date, self.payload) = (date, payload) }
}
