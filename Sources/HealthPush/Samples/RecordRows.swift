import HealthModel

/// Rows of a batch that is being filled, its names numbered as they come.
struct RecordRows {
    private(set) var batch = RecordBatch()
    // By bytes: text takes what is canonically equivalent for equal, and a source in another spelling is another source.
    private var types: [[UInt8]: Int32] = [:]
    private var units: [[UInt8]: Int32] = [:]
    private var origins: [[UInt8]: Int32] = [:]

    /// One record, before it is a row. Times are instants, the value is in the unit given, which is the type's canonical one where it has one.
    struct Row {
        var type = ""
        var unit = ""
        var origin = Origin(sourceName: "")
        var start = Instant.epoch
        var end = Instant.epoch
        var value = Double.nan
        /// Seconds since 1970; 0 when unknown.
        var created: Int64 = 0
        var flags: RecordFlags = []
        /// JSON objects; empty for none.
        var metadata: [UInt8] = []
        var payload: [UInt8] = []
        var uuid: SampleID?
        /// The item's number.
        var item: Int64 = 0
    }

    mutating func append(_ row: Row) {
        batch.type.append(Self.number(Array(row.type.utf8), row.type, &types, &batch.types))
        batch.unit.append(Self.number(Array(row.unit.utf8), row.unit, &units, &batch.units))
        batch.origin.append(Self.number(Self.bytes(of: row.origin), row.origin, &origins, &batch.origins))
        batch.start.append(row.start.microseconds)
        batch.end.append(row.end.microseconds)
        batch.value.append(row.value)
        batch.created.append(row.created)
        batch.flags.append(row.flags)
        batch.metadata.append(bytes: row.metadata)
        batch.payload.append(bytes: row.payload)
        batch.healthKitUUID.append(row.uuid)
        batch.line.append(row.item)
    }

    private static func bytes(of origin: Origin) -> [UInt8] {
        [origin.sourceName, origin.sourceVersion, origin.productType, origin.device]
            .flatMap { Array($0.utf8) + [0xFF] }
    }

    private static func number<Name>(
        _ bytes: [UInt8], _ name: Name, _ numbers: inout [[UInt8]: Int32], _ names: inout [Name]
    ) -> Int32 {
        if let known = numbers[bytes] { return known }
        let new = Int32(names.count)
        numbers[bytes] = new
        names.append(name)
        return new
    }
}
