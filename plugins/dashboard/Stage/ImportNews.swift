import HealthModel
import Protocol

/// What open pages hear about imports: how far one has been read, and how it ended.
package struct ImportNews {
    private var reading: ObserverDetails.Reading?
    /// The row of the import that is being read; nil until it is known.
    private var row: Value?

    package init() {}

    /// The rows of imports that have changed, as in `/api/imports`.
    /// - Parameters:
    ///   - now: what the observer is reading.
    ///   - rows: asks for all imports; this is done only when an import begins or ends.
    package mutating func look(_ now: ObserverDetails.Reading?, rows: () -> [Value]) -> [Value] {
        guard now != reading else { return [] }
        defer { reading = now }
        let ended = reading?.id == now?.id ? nil : reading?.id
        if reading?.id != now?.id { row = nil }
        let all = ended != nil || (now != nil && row == nil) ? rows() : []
        var reported = all.filter { $0["id"].string != nil && $0["id"].string == ended }
        if let now {
            row = row ?? all.first { $0["id"].string == now.id }
            // Without its row, it isn't known whose import it is.
            if let row { reported.append(Self.row(row, now)) }
        }
        return reported
    }

    /// A row of `healthbus imports --json`, with its progress if it is being read.
    package static func row(_ row: Value, _ reading: ObserverDetails.Reading?) -> Value {
        guard let reading, row["id"].string == reading.id, var members = row.object,
            // A heartbeat may be older than the row.
            !isOver(row)
        else { return row }
        let fraction = reading.bytesTotal > 0 ? Double(reading.bytesRead) / Double(reading.bytesTotal) : 0
        members["state"] = "reading"
        members["progress"] = ["fraction": .number(min(fraction, 1)), "records": .integer(reading.records)]
        return .object(members)
    }

    private static func isOver(_ row: Value) -> Bool {
        let over: [ImportRow.State] = [.closed, .failed]
        return over.contains { $0.rawValue == row["state"].string }
    }
}
