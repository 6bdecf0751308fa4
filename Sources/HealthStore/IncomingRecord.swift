import HealthModel

/// One record of a batch, ready to be looked up; its metadata and payload point into the batch.
struct IncomingRecord {
    var prefix: SampleKeyPrefix
    /// Microseconds since 1970.
    var start: Int64
    var end: Int64
    var second: Int64
    var endSecond: Int64
    var value: Double
    var unit: Int
    var origin: Int
    /// The origin's index in the batch.
    var batchOrigin: Int
    /// Whether the record doesn't name the source that recorded it.
    var isUnnamed: Bool
    var created: Int64
    /// The flags as stored: a child of a Correlation becomes an ordinary sample, which shows only that it is one of the
    /// two of a blood pressure.
    var flags: UInt8
    var isChild: Bool
    /// Whether its sender rounds; see `RecordFlags.coarse`.
    var isCoarse: Bool
    /// Whether the whole that it is a part of was deleted.
    var isDeleted: Bool
    var uuid: SampleID?
    var line: Int64
    var metadata: UnsafeRawBufferPointer
    var payload: UnsafeRawBufferPointer

    func id(_ ordinal: Int) -> SampleID {
        SampleID(prefix, startSecond: second, endSecond: endSecond, ordinal: ordinal)
    }

    /// Whether a row that starts in the same second has the same measurement, as far as its times and its value say.
    func agrees(with row: StoredRow) -> Bool {
        row.endSecond == endSecond && row.unit == unit && StoredValue.agrees(row.value, value)
    }

    /// A row with the record's content.
    func row(_ id: SampleID, type: Int) -> StoredRow {
        var row = StoredRow()
        row.type = type
        row.second = second
        row.startRemainder = start &- second &* Instant.microsecondsPerSecond
        row.duration = end &- start
        (row.value, row.unit, row.origin, row.id) = (value, unit, origin, id)
        return row
    }
}

/// How values are compared.
package enum StoredValue {
    /// Whether two values are equal except for the effects of unit conversion and printing: the relative difference is
    /// at most 2e-5. Two values also agree if neither is a number.
    package static func agrees(_ a: Double, _ b: Double) -> Bool {
        if a == b || (a.isNaN && b.isNaN) { return true }
        return abs(a - b) <= 2e-5 * max(abs(a), abs(b)) && a.isFinite && b.isFinite
    }

    package static func isSame(_ a: Double, _ b: Double) -> Bool { a == b || (a.isNaN && b.isNaN) }

    /// The order of rows with the same key: by number, with those without a number last.
    package static func isAfter(_ a: Double, _ b: Double) -> Bool { a.isNaN ? !b.isNaN : a > b }

    /// Given two forms of a value, whether `a` is the one that was printed rather than converted, which means that it
    /// has fewer digits.
    package static func isPlainer(_ a: Double, than b: Double) -> Bool {
        if a.isNaN || b.isNaN { return !a.isNaN && b.isNaN }
        let digits = (a.description.utf8.count, b.description.utf8.count)
        return digits.0 == digits.1 ? a < b : digits.0 < digits.1
    }
}
