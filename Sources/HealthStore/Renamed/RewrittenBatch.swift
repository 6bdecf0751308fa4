import HealthModel

/// Rows as records of an input.
struct RewrittenBatch {
    private(set) var batch = RecordBatch()
    private var types: [String: Int32] = [:]
    private var units: [String: Int32] = [:]
    private var origins: [Origin: Int32] = [:]

    mutating func append(
        _ row: StoredRow, type: String, unit: String, origin: Origin, metadata: [UInt8], payload: [UInt8]
    ) {
        batch.type.append(types.place(of: type, in: &batch.types, adding: type))
        batch.unit.append(units.place(of: unit, in: &batch.units, adding: unit))
        batch.origin.append(origins.place(of: origin, in: &batch.origins, adding: origin))
        batch.start.append(row.start)
        batch.end.append(row.end)
        batch.value.append(row.value)
        batch.created.append(row.created)
        batch.flags.append(RecordFlags(rawValue: row.flags))
        batch.metadata.append(bytes: metadata)
        batch.payload.append(bytes: payload)
        batch.healthKitUUID.append(row.uuid)
        batch.line.append(0)
    }
}
