/// Records as read from an input, in columns, before they have an identity: what an importer hands to the store.
///
/// Values are already in the canonical unit of their type (see `HealthType`); a type we don't know keeps its own unit.
package struct RecordBatch: Sendable {
    // Dictionaries, in order of first appearance in this batch.
    package var types: [String] = []
    package var units: [String] = []
    package var origins: [Origin] = []

    // Columns; all have the same number of rows.
    /// Index into `types`.
    package var type: [Int32] = []
    /// Microseconds since 1970, as in `Instant`.
    package var start: [Int64] = []
    /// As `start`.
    package var end: [Int64] = []
    /// Canonical unit; a category's raw value; NaN where there is no number (workouts, correlations, unknown category names).
    package var value: [Double] = []
    /// Index into `units`.
    package var unit: [Int32] = []
    /// Index into `origins`.
    package var origin: [Int32] = []
    /// When HealthKit stored it, seconds since 1970; 0 when unknown.
    package var created: [Int64] = []
    package var flags: [RecordFlags] = []
    /// JSON object of the metadata; empty when there is none. A key that repeats with different values holds an array.
    package var metadata: TextColumn = TextColumn()
    /// JSON of what doesn't fit the columns: a workout's body, heart-rate-variability beats, a correlation's parts, a category's
    /// unknown name; empty when there is none.
    package var payload: TextColumn = TextColumn()
    /// The sample's HealthKit UUID where the channel knows it; empty column, or nil rows, where not.
    package var healthKitUUID: [SampleID?] = []
    /// The line of the input where the record begins.
    package var line: [Int64] = []
    /// Where pieces of the export end, in order; a piece may have begun in an earlier batch.
    package var pieceEnds: [PieceEnd] = []

    package init() {}

    package var count: Int { type.count }
    /// When a row's record begins.
    @inlinable package func startOf(_ row: Int) -> Instant { Instant(microseconds: start[row]) }
    /// When it ends.
    @inlinable package func endOf(_ row: Int) -> Instant { Instant(microseconds: end[row]) }
}

package struct RecordFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Entered by hand (`HKWasUserEntered`).
    package static let userEntered = RecordFlags(rawValue: 1)
    /// A child of a Correlation: exports repeat it as a top-level record, so it claims rows apart from those.
    package static let correlationChild = RecordFlags(rawValue: 2)
    /// Never in HealthKit (`sourceType` manual).
    package static let manual = RecordFlags(rawValue: 4)
}

/// Input that couldn't be understood: kept with where it stood and why.
package struct QuarantinedInput: Sendable, Equatable {
    /// Line of the input; 0 when it has none.
    package var line: Int64
    /// What is wrong, without health values: "startDate isn't a date".
    package var reason: String
    /// The element as it was, at most 4 KiB.
    package var raw: String

    package init(line: Int64, reason: String, raw: String) {
        self.line = line
        self.reason = reason
        self.raw = raw
    }
}

/// One ring summary of an export's `ActivitySummary`: Apple's own figures of a day, kept beside ours.
package struct ActivitySummaryRecord: Sendable, Equatable {
    /// The local date, "2025-03-30".
    package var date: String
    /// JSON object of the attributes as numbers, canonical units (kcal, min, h).
    package var payload: String

    package init(date: String, payload: String) {
        self.date = date
        self.payload = payload
    }
}
