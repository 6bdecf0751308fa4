/// Samples from a store, in columns. What travels on the bus, and what a handler gets.
///
/// Not every query fills every column: a slice for figures leaves `unit`, `created`, `healthKitUUID` empty, and fills `metadata` and `payload`
/// only where asked. `ids` and the columns down to `flags` are always there.
package struct SamplePage: Sendable {
    package var types: [String] = []
    package var units: [String] = []
    package var origins: [Origin] = []

    package var ids: [SampleID] = []
    /// The sequence of the row's newest change; also the sample's version.
    package var sequence: [Int64] = []
    package var type: [Int32] = []
    package var start: [Instant] = []
    package var end: [Instant] = []
    /// See `RecordBatch.value`.
    package var value: [Double] = []
    package var origin: [Int32] = []
    package var flags: [SampleFlags] = []

    package var unit: [Int32] = []
    package var created: [Int64] = []
    package var metadata: TextColumn = TextColumn()
    package var payload: TextColumn = TextColumn()
    package var healthKitUUID: [SampleID?] = []

    package init() {}

    package var count: Int { ids.count }
    package var isEmpty: Bool { ids.isEmpty }

    package func typeName(_ row: Int) -> String { types[Int(type[row])] }
    package func originOf(_ row: Int) -> Origin { origins[Int(origin[row])] }
}

package struct SampleFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Entered by hand.
    package static let userEntered = SampleFlags(rawValue: 1)
    /// Never in HealthKit.
    package static let manual = SampleFlags(rawValue: 4)
    /// A tombstone: type, start and end still tell which days it touches.
    package static let deleted = SampleFlags(rawValue: 8)
    /// Outside the plausibility limits: kept, not counted, not delivered.
    package static let quarantined = SampleFlags(rawValue: 16)
}
