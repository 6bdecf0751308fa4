import HealthModel
import HealthPush
import Protocol

/// Cuts a request's content into parts that fit a message. A request that fits into one isn't copied.
package struct RequestParts {
    /// The maximum number of rows in a part: a commit's worth.
    private static let rowLimit = 2048
    /// The maximum number of bytes in a part's texts. A message holds 1 MiB.
    private static let byteLimit = 640 << 10
    private static let deletionLimit = 16_384

    /// The parts in order, still without ids and numbers; at least one.
    package private(set) var parts: [Content] = []

    /// The content of one part.
    package struct Content {
        package var records = RecordBatch()
        package var deleted: [SampleID] = []
        package var deletedWholes: [SampleID] = []
        /// Their items.
        package var deletedItems: [Int64] = []
        package var quarantined: [QuarantinedInput] = []
    }

    package init(_ changes: PushedChanges) {
        var quarantined = changes.quarantined
        let wholes = Set(changes.deletedWholes)
        for first in stride(from: 0, to: changes.deleted.count, by: Self.deletionLimit) {
            let range = first..<min(first + Self.deletionLimit, changes.deleted.count)
            parts.append(
                Content(
                    deleted: Array(changes.deleted[range]),
                    deletedWholes: wholes.isEmpty ? [] : changes.deleted[range].filter { wholes.contains($0) },
                    deletedItems: Array(changes.deletedItems[range])))
        }
        cut(changes.records, &quarantined)
        var rest = quarantined[...]
        while !rest.isEmpty {
            var content = Content()
            var size = 0
            while let next = rest.first, content.quarantined.isEmpty || size + next.raw.utf8.count < Self.byteLimit {
                size += next.raw.utf8.count + next.reason.utf8.count + 32
                content.quarantined.append(next)
                rest.removeFirst()
            }
            parts.append(content)
        }
        if parts.isEmpty { parts.append(Content()) }
    }

    /// The parts as messages.
    /// - Parameter id: the request's.
    package func messages(id: String, user: String, device: String, way: WayIn) -> [IngestPart] {
        parts.enumerated().map { number, content in
            var part = IngestPart(id: id, number: Int64(number), user: user, device: device, way: way.path)
            part.isLast = number == parts.count - 1
            part.records = content.records
            part.deleted = content.deleted
            part.deletedWholes = content.deletedWholes
            part.quarantined = content.quarantined
            return part
        }
    }

    /// Adds the parts of the rows; a row that is too long for any is quarantined.
    private mutating func cut(_ records: RecordBatch, _ quarantined: inout [QuarantinedInput]) {
        var sizes = RowSizes(records)
        var (first, size) = (0, 0)
        func end(before row: Int) {
            if first < row { parts.append(Content(records: records.rows(first..<row))) }
            // In a new part, names count as new again.
            sizes.part += 1
            (first, size) = (row, 0)
        }
        for row in 0..<records.count {
            var bytes = sizes.bytes(row)
            if row - first == Self.rowLimit || size + bytes > Self.byteLimit {
                end(before: row)
                bytes = sizes.bytes(row)
            }
            size += bytes
            guard bytes > Self.byteLimit else { continue }
            quarantined.append(
                QuarantinedInput(
                    line: records.line[row], reason: "it has more than \(Self.byteLimit >> 10) KiB of text", raw: ""))
            end(before: row)
            first = row + 1
        }
        end(before: records.count)
    }
}

/// How many bytes the texts of a batch's rows take.
private struct RowSizes {
    private let records: RecordBatch
    /// The part that the rows asked about belong to.
    var part = 1
    // For each name, the last part in which it was counted.
    private var types: [Int]
    private var units: [Int]
    private var origins: [Int]

    init(_ records: RecordBatch) {
        self.records = records
        types = [Int](repeating: 0, count: records.types.count)
        units = [Int](repeating: 0, count: records.units.count)
        origins = [Int](repeating: 0, count: records.origins.count)
    }

    /// The overhead of a text in a dictionary.
    private static let entry = 24

    /// How many bytes a row's texts add to its part, including those of its names that are new there.
    mutating func bytes(_ row: Int) -> Int {
        let (type, unit, origin) = (Int(records.type[row]), Int(records.unit[row]), Int(records.origin[row]))
        var size = records.metadata.range(row).count + records.payload.range(row).count
        if types[type] != part { size += Self.entry + records.types[type].utf8.count }
        if units[unit] != part { size += Self.entry + records.units[unit].utf8.count }
        if origins[origin] != part {
            let origin = records.origins[origin]
            size += 4 * Self.entry + origin.sourceName.utf8.count + origin.sourceVersion.utf8.count
            size += origin.productType.utf8.count + origin.device.utf8.count
        }
        (types[type], units[unit], origins[origin]) = (part, part, part)
        return size
    }
}

extension RecordBatch {
    /// Rows that follow each other, with only the names that they use. An array of which all is taken isn't copied.
    fileprivate func rows(_ range: Range<Int>) -> RecordBatch {
        var batch = RecordBatch()
        (batch.types, batch.type) = Self.used(types, type[range])
        (batch.units, batch.unit) = Self.used(units, unit[range])
        (batch.origins, batch.origin) = Self.used(origins, origin[range])
        batch.start = Array(start[range])
        batch.end = Array(end[range])
        batch.value = Array(value[range])
        batch.created = Array(created[range])
        batch.flags = Array(flags[range])
        batch.metadata = metadata.rows(range)
        batch.payload = payload.rows(range)
        if !healthKitUUID.isEmpty { batch.healthKitUUID = Array(healthKitUUID[range]) }
        batch.line = Array(line[range])
        return batch
    }

    private static func used<Name>(_ names: [Name], _ column: ArraySlice<Int32>) -> ([Name], [Int32]) {
        var numbers = [Int32](repeating: -1, count: names.count)
        var kept: [Name] = []
        for old in column where numbers[Int(old)] < 0 {
            numbers[Int(old)] = Int32(kept.count)
            kept.append(names[Int(old)])
        }
        return kept.count == names.count ? (names, Array(column)) : (kept, column.map { numbers[Int($0)] })
    }
}

extension TextColumn {
    fileprivate func rows(_ range: Range<Int>) -> TextColumn {
        guard range != ends.indices, let last = range.last else { return self }
        let (start, end) = (self.range(range.lowerBound).lowerBound, self.range(last).upperBound)
        return TextColumn(bytes: Array(bytes[start..<end]), ends: ends[range].map { $0 - Int32(start) })
    }
}
