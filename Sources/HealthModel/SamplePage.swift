/// Samples from a store, in columns. What travels on the bus, and what a handler gets.
///
/// Not every query fills every column: a slice for figures leaves `unit`, `created`, `healthKitUUID` empty, and fills `metadata` and `payload`
/// only where asked. `ids` and the columns down to `flags` are always there.
public struct SamplePage: Sendable {
    public var types: [String] = []
    public var units: [String] = []
    public var origins: [Origin] = []

    public var ids: [SampleID] = []
    /// The sequence of the row's newest change; also the sample's version.
    public var sequence: [Int64] = []
    public var type: [Int32] = []
    public var start: [Instant] = []
    public var end: [Instant] = []
    /// See `RecordBatch.value`.
    public var value: [Double] = []
    public var origin: [Int32] = []
    public var flags: [SampleFlags] = []

    public var unit: [Int32] = []
    public var created: [Int64] = []
    public var metadata: TextColumn = TextColumn()
    public var payload: TextColumn = TextColumn()
    public var healthKitUUID: [SampleID?] = []

    public init() {}

    public var count: Int { ids.count }
    public var isEmpty: Bool { ids.isEmpty }

    public func typeName(_ row: Int) -> String { types[Int(type[row])] }
    public func originOf(_ row: Int) -> Origin { origins[Int(origin[row])] }
}

public struct SampleFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Entered by hand.
    public static let userEntered = SampleFlags(rawValue: 1)
    /// Never in HealthKit.
    public static let manual = SampleFlags(rawValue: 4)
    /// A tombstone: type, start and end still tell which days it touches.
    public static let deleted = SampleFlags(rawValue: 8)
    /// Outside the plausibility limits: kept, not counted, not delivered.
    public static let quarantined = SampleFlags(rawValue: 16)
}
