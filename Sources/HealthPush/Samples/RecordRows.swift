import HealthModel

/// A record's contents other than its type, unit and source, before it becomes a row in columns.
protocol RecordCells {
    var start: Instant { get }
    var end: Instant { get }
    /// The value in the given unit, which is the type's canonical unit if it has one; NaN for none.
    var value: Double { get }
    /// Seconds since 1970; 0 when unknown.
    var created: Int64 { get }
    var flags: RecordFlags { get }
    /// JSON objects; empty if there are no members.
    var metadata: [UInt8] { get }
    var payload: [UInt8] { get }
    var uuid: SampleID? { get }
}

/// The rows of a batch that is being filled; names are numbered in order of appearance.
struct RecordRows {
    private(set) var batch = RecordBatch()
    // Names are compared by their bytes: strings treat canonically equivalent text as equal, but a source spelled
    // differently is a different source.
    private var types: [[UInt8]: Int32] = [:]
    private var units: [[UInt8]: Int32] = [:]
    private var origins: [[UInt8]: Int32] = [:]

    /// One record, with its names as text.
    struct Row: RecordCells {
        var type = ""
        var unit = ""
        var origin = Origin(sourceName: "")
        var start = Instant.epoch
        var end = Instant.epoch
        var value = Double.nan
        var created: Int64 = 0
        var flags: RecordFlags = []
        var metadata: [UInt8] = []
        var payload: [UInt8] = []
        var uuid: SampleID?
        /// The item's number.
        var item: Int64 = 0
    }

    /// Takes out the rows; the names keep their numbers.
    mutating func takeRows() -> RecordBatch {
        let full = batch
        batch = RecordBatch()
        (batch.types, batch.units, batch.origins) = (full.types, full.units, full.origins)
        return full
    }

    mutating func append(_ row: Row) {
        append(row, item: row.item, type: slot(type: row.type), unit: slot(unit: row.unit), origin: slot(row.origin))
    }

    /// - Parameters:
    ///   - item: its number.
    ///   - type, unit, origin: numbers returned by `slot`.
    mutating func append(_ cells: some RecordCells, item: Int64, type: Int32, unit: Int32, origin: Int32) {
        batch.type.append(type)
        batch.unit.append(unit)
        batch.origin.append(origin)
        batch.start.append(cells.start.microseconds)
        batch.end.append(cells.end.microseconds)
        batch.value.append(cells.value)
        batch.created.append(cells.created)
        batch.flags.append(cells.flags)
        batch.metadata.append(bytes: cells.metadata)
        batch.payload.append(bytes: cells.payload)
        batch.healthKitUUID.append(cells.uuid)
        batch.line.append(item)
    }

    mutating func slot(type: String) -> Int32 { types.place(of: Array(type.utf8), in: &batch.types, adding: type) }

    mutating func slot(unit: String) -> Int32 { units.place(of: Array(unit.utf8), in: &batch.units, adding: unit) }

    mutating func slot(_ origin: Origin) -> Int32 {
        origins.place(of: Self.bytes(of: origin), in: &batch.origins, adding: origin)
    }

    private static func bytes(of origin: Origin) -> [UInt8] {
        [origin.sourceName, origin.sourceVersion, origin.productType, origin.device]
            .flatMap { Array($0.utf8) + [0xFF] }
    }
}

extension Value {
    /// A part as a correlation's payload names it.
    init(partOfType type: String, unit: String, _ value: Double, _ start: Instant, _ end: Instant) {
        self = [
            "type": .string(type), "unit": .string(unit), "value": Value(value.isNaN ? nil : value),
            "start": .string(InstantText.iso8601(start)), "end": .string(InstantText.iso8601(end)),
        ]
    }
}
