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
        func index<Name: Hashable>(_ name: Name, _ known: inout [Name: Int32], _ names: inout [Name]) -> Int32 {
            if let index = known[name] { return index }
            let index = Int32(names.count)
            names.append(name)
            known[name] = index
            return index
        }
        batch.type.append(index(type, &types, &batch.types))
        batch.unit.append(index(unit, &units, &batch.units))
        batch.origin.append(index(origin, &origins, &batch.origins))
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
