import HealthModel
import HealthPush
import Protocol

/// Cuts a request's content into parts that fit a message.
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
        /// Their items.
        package var deletedItems: [Int64] = []
        package var quarantined: [QuarantinedInput] = []
    }

    package init(_ changes: PushedChanges) {
        var quarantined = changes.quarantined
        for first in stride(from: 0, to: changes.deleted.count, by: Self.deletionLimit) {
            let range = first..<min(first + Self.deletionLimit, changes.deleted.count)
            parts.append(
                Content(deleted: Array(changes.deleted[range]), deletedItems: Array(changes.deletedItems[range])))
        }
        let records = changes.records
        var cut = PartCutter(records)
        for row in 0..<records.count {
            var bytes = cut.bytes(row)
            if bytes > Self.byteLimit {
                quarantined.append(
                    QuarantinedInput(
                        line: records.line[row], reason: "it has more than \(Self.byteLimit >> 10) KiB of text", raw: ""
                    ))
                continue
            }
            if cut.rows == Self.rowLimit || cut.size + bytes > Self.byteLimit {
                parts.append(cut.finish())
                // In a new part, names count as new again.
                bytes = cut.bytes(row)
            }
            cut.take(row, bytes)
        }
        if cut.rows > 0 { parts.append(cut.finish()) }
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
}

/// Copies rows of a batch into a smaller one, with only the names that they use.
private struct PartCutter {
    private let source: RecordBatch
    private var target = RecordBatch()
    private var types: [Int32: Int32] = [:]
    private var units: [Int32: Int32] = [:]
    private var origins: [Int32: Int32] = [:]
    private(set) var size = 0

    init(_ source: RecordBatch) { self.source = source }

    var rows: Int { target.count }

    /// How many bytes a row's texts add, including those of its names that are new in the part.
    func bytes(_ row: Int) -> Int {
        var size = source.metadata.range(row).count + source.payload.range(row).count
        if types[source.type[row]] == nil { size += Self.entry + source.types[Int(source.type[row])].utf8.count }
        if units[source.unit[row]] == nil { size += Self.entry + source.units[Int(source.unit[row])].utf8.count }
        if origins[source.origin[row]] == nil {
            let origin = source.origins[Int(source.origin[row])]
            size += 4 * Self.entry + origin.sourceName.utf8.count + origin.sourceVersion.utf8.count
            size += origin.productType.utf8.count + origin.device.utf8.count
        }
        return size
    }

    /// The overhead of a text in a dictionary.
    private static let entry = 24

    mutating func take(_ row: Int, _ bytes: Int) {
        size += bytes
        target.type.append(Self.number(source.type[row], &types) { target.types.append(source.types[$0]) })
        target.unit.append(Self.number(source.unit[row], &units) { target.units.append(source.units[$0]) })
        target.origin.append(Self.number(source.origin[row], &origins) { target.origins.append(source.origins[$0]) })
        target.start.append(source.start[row])
        target.end.append(source.end[row])
        target.value.append(source.value[row])
        target.created.append(source.created[row])
        target.flags.append(source.flags[row])
        target.metadata.append(bytes: Array(source.metadata.bytes[source.metadata.range(row)]))
        target.payload.append(bytes: Array(source.payload.bytes[source.payload.range(row)]))
        target.healthKitUUID.append(source.healthKitUUID.isEmpty ? nil : source.healthKitUUID[row])
        target.line.append(source.line[row])
    }

    private static func number(_ old: Int32, _ numbers: inout [Int32: Int32], _ add: (Int) -> Void) -> Int32 {
        if let known = numbers[old] { return known }
        let new = Int32(numbers.count)
        numbers[old] = new
        add(Int(old))
        return new
    }

    mutating func finish() -> RequestParts.Content {
        defer { self = PartCutter(source) }
        return RequestParts.Content(records: target)
    }
}
