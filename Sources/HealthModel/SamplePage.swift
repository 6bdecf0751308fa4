/// Samples from a store, in columns: the form in which they are sent over the bus and given to handlers.
///
/// Not every query fills every column: a slice fills `created`, `healthKitUUID`, `metadata` and `payload` only on
/// request, but `created` also where only it says which of several samples is the latest: for samples of one discrete
/// type with the same start and end but different values. `ids` and the columns down to `flags` are always filled.
public struct SamplePage: Sendable {
    /// Identifiers of the types that `type` points to.
    public var types: [String] = []
    /// Units that `unit` points to.
    public var units: [String] = []
    /// Sources that `origin` points to.
    public var origins: [Origin] = []

    /// Each sample's id; with `start` it gives the canonical order.
    public var ids: [SampleID] = []
    /// The sequence of the row's latest change; also the sample's version.
    public var sequence: [Int64] = []
    /// Index into `types`.
    public var type: [Int32] = []
    /// When samples begin, microseconds since 1970 as in `Instant`.
    public var start: [Int64] = []
    /// When they end, microseconds since 1970; equal to the start for those without duration.
    public var end: [Int64] = []
    /// See `RecordBatch.value`.
    public var value: [Double] = []
    /// Index into `origins`.
    public var origin: [Int32] = []
    /// What is known about the row besides its value.
    public var flags: [SampleFlags] = []

    /// Index into `units`: the unit in which the value arrived.
    public var unit: [Int32] = []
    /// When HealthKit stored it, seconds since 1970; 0 when unknown.
    public var created: [Int64] = []
    /// A JSON object; empty where there is none.
    public var metadata: TextColumn = TextColumn()
    /// JSON: what a workout, a correlation or a route has besides its value.
    public var payload: TextColumn = TextColumn()
    /// HealthKit's own id, where the channel provides it.
    public var healthKitUUID: [SampleID?] = []

    /// A page without rows.
    public init() {}

    /// The number of rows.
    public var count: Int { ids.count }
    /// Whether there are no rows.
    public var isEmpty: Bool { ids.isEmpty }

    /// The identifier of a row's type.
    public func typeName(_ row: Int) -> String { types[Int(type[row])] }
    /// When a row's sample begins.
    @inlinable public func startOf(_ row: Int) -> Instant { Instant(microseconds: start[row]) }
    /// When it ends; equal to the start if it has no duration.
    @inlinable public func endOf(_ row: Int) -> Instant { Instant(microseconds: end[row]) }
    /// The index of a row's unit; nil in a page without this column, as below.
    @inlinable package func unitIndex(_ row: Int) -> Int? { unit.isEmpty ? nil : Int(unit[row]) }
    @inlinable package func uuidOf(_ row: Int) -> SampleID? { healthKitUUID.isEmpty ? nil : healthKitUUID[row] }
    /// Where a row came from.
    public func originOf(_ row: Int) -> Origin { origins[Int(origin[row])] }
}

/// What is known about a sample besides its columns.
public struct SampleFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Entered by hand.
    public static let userEntered = SampleFlags(rawValue: 1)
    /// The sample was never stored in HealthKit.
    public static let manual = SampleFlags(rawValue: 4)
    /// A tombstone: its type, start and end still show which days it affects.
    public static let deleted = SampleFlags(rawValue: 8)
    /// The sample is outside the plausibility limits: it is kept, but neither counted nor delivered.
    public static let quarantined = SampleFlags(rawValue: 16)
    /// Not a sample but a sum or average that an app computed for this period. It counts where there are no samples.
    public static let statistics = SampleFlags(rawValue: 32)
    /// The sample is one of the two of a blood pressure, which is a sample too.
    public static let part = SampleFlags(rawValue: 128)
}
