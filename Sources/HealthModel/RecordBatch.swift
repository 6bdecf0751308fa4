/// Records as read from an input, in columns, before they have an identity: what an importer hands to the store.
///
/// Values are already in the canonical unit of their type (see `HealthType`); a type we don't know keeps its own unit.
public struct RecordBatch: Sendable {
    // Dictionaries, in order of first appearance in this batch.
    public var types: [String] = []
    public var units: [String] = []
    public var origins: [Origin] = []

    // Columns; all have the same number of rows.
    /// Index into `types`.
    public var type: [Int32] = []
    public var start: [Instant] = []
    public var end: [Instant] = []
    /// Canonical unit; a category's raw value; NaN where there is no number (workouts, correlations, unknown category names).
    public var value: [Double] = []
    /// Index into `units`.
    public var unit: [Int32] = []
    /// Index into `origins`.
    public var origin: [Int32] = []
    /// When HealthKit stored it, seconds since 1970; 0 when unknown.
    public var created: [Int64] = []
    public var flags: [RecordFlags] = []
    /// JSON object of the metadata; empty when there is none. A key that repeats with different values holds an array.
    public var metadata: TextColumn = TextColumn()
    /// JSON of what doesn't fit the columns: a workout's body, heart-rate-variability beats, a correlation's parts, a category's
    /// unknown name; empty when there is none.
    public var payload: TextColumn = TextColumn()
    /// The sample's HealthKit UUID where the channel knows it; empty column, or nil rows, where not.
    public var healthKitUUID: [SampleID?] = []
    /// The line of the input where the record begins.
    public var line: [Int64] = []

    public init() {}

    public var count: Int { type.count }
}

public struct RecordFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Entered by hand (`HKWasUserEntered`).
    public static let userEntered = RecordFlags(rawValue: 1)
    /// A child of a Correlation: exports repeat it as a top-level record, so it claims rows apart from those.
    public static let correlationChild = RecordFlags(rawValue: 2)
    /// Never in HealthKit (`sourceType` manual).
    public static let manual = RecordFlags(rawValue: 4)
}

/// Input that couldn't be understood: kept with where it stood and why.
public struct QuarantinedInput: Sendable, Equatable {
    /// Line of the input; 0 when it has none.
    public var line: Int64
    /// What is wrong, without health values: "startDate isn't a date".
    public var reason: String
    /// The element as it was, at most 4 KiB.
    public var raw: String

    public init(line: Int64, reason: String, raw: String) {
        self.line = line
        self.reason = reason
        self.raw = raw
    }
}

/// One ring summary of an export's `ActivitySummary`: Apple's own figures of a day, kept beside ours.
public struct ActivitySummaryRecord: Sendable, Equatable {
    /// The local date, "2025-03-30".
    public var date: String
    /// JSON object of the attributes as numbers, canonical units (kcal, min, h).
    public var payload: String

    public init(date: String, payload: String) {
        self.date = date
        self.payload = payload
    }
}
