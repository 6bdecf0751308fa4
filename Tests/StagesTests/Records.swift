import HealthModel

/// A record in short form.
struct Record: Hashable {
    var type = "HKQuantityTypeIdentifierStepCount"
    var source = "Watch"
    var device = ""
    var start: Instant
    var length = Duration.seconds(60)
    var value: Double
    var unit = "count"
    var metadata = ""
    /// HealthKit's UUID, by which a sample can be deleted.
    var uuid: SampleID?
    var payload = ""

    static func batch(_ records: [Record]) -> RecordBatch {
        var batch = RecordBatch()
        func index<Name: Equatable>(_ name: Name, _ names: inout [Name]) -> Int32 {
            if let known = names.firstIndex(of: name) { return Int32(known) }
            names.append(name)
            return Int32(names.count - 1)
        }
        for (line, record) in records.enumerated() {
            batch.type.append(index(record.type, &batch.types))
            batch.unit.append(index(record.unit, &batch.units))
            batch.origin.append(index(Origin(sourceName: record.source, device: record.device), &batch.origins))
            batch.start.append(record.start.microseconds)
            batch.end.append((record.start + record.length).microseconds)
            batch.value.append(record.value)
            batch.created.append(0)
            batch.flags.append([])
            batch.metadata.append(record.metadata)
            batch.payload.append(record.payload)
            batch.healthKitUUID.append(record.uuid)
            batch.line.append(Int64(line + 1))
        }
        return batch
    }
}
