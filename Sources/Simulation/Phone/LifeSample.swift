import HealthModel

/// One sample of a simulated person, as saved by the device that measured it.
package struct LifeSample: Sendable, Equatable {
    package var uuid: SampleID
    package var type: String
    package var source: String
    package var start: Instant
    package var end: Instant
    /// In the type's canonical unit; a category's raw value; NaN for a workout.
    package var value: Double
    package var unit: String
    /// JSON objects; empty when there is none.
    package var metadata = ""
    package var payload = ""
    /// When it could first be delivered: its end, the morning for a night, or when a person typed it in.
    package var saved: Instant

    /// The types that the system reports soon after they are written, which the field's reports say of workouts only.
    static let immediate: Set<String> = [HealthType.workoutIdentifier]

    package static let watch = "Apple Watch"
    package static let phone = "iPhone"
    package static let scale = "Scale"
    package static let health = "Health"

    /// The samples in the form that the observer ingests.
    package static func batch(_ samples: [LifeSample]) -> RecordBatch {
        var batch = RecordBatch()
        func index<Name: Equatable>(_ name: Name, _ names: inout [Name]) -> Int32 {
            if let known = names.firstIndex(of: name) { return Int32(known) }
            names.append(name)
            return Int32(names.count - 1)
        }
        for (line, sample) in samples.enumerated() {
            batch.type.append(index(sample.type, &batch.types))
            batch.unit.append(index(sample.unit, &batch.units))
            batch.origin.append(index(Origin(sourceName: sample.source), &batch.origins))
            batch.start.append(sample.start.microseconds)
            batch.end.append(sample.end.microseconds)
            batch.value.append(sample.value)
            batch.created.append(sample.saved.microseconds / Instant.microsecondsPerSecond)
            batch.flags.append(sample.source == Self.health ? .userEntered : [])
            batch.metadata.append(sample.metadata)
            batch.payload.append(sample.payload)
            batch.healthKitUUID.append(sample.uuid)
            batch.line.append(Int64(line + 1))
        }
        return batch
    }
}
