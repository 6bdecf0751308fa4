import HealthModel

/// Rereads an item from quarantine that wasn't understood before, applying today's rules.
package enum QuarantinedItem {
    /// Whether an item came from Health Auto Export, pushed or in a file. Other files' items are XML.
    package static func isAutoExport(_ raw: String, pushedAsSamples: Bool) -> Bool {
        !pushedAsSamples && raw.utf8.first == UInt8(ascii: "{")
    }

    /// - Parameters:
    ///   - raw: as in `PushedChanges.quarantined`.
    ///   - isAutoExport: whether it came from Health Auto Export; otherwise it came from `/v1/samples`.
    /// - Returns: its samples; nil if it still isn't understood. An item that was too long has been cut, and can never
    ///   be understood.
    package static func records(_ raw: String, isAutoExport: Bool) -> RecordBatch? {
        let changes =
            isAutoExport ? autoExport(raw) : try? SamplesBody.changes(json: Array("{\"samples\":[\(raw)]}".utf8))
        guard let changes, changes.quarantined.isEmpty, changes.records.count > 0 else { return nil }
        return changes.records
    }

    /// A metric's item is kept inside its metric, any other inside its section. The time at which it was sent is no
    /// longer known, so any other version of a statistic counts as newer.
    private static func autoExport(_ raw: String) -> PushedChanges? {
        guard let members = try? Value(json: raw.utf8).object else { return nil }
        let headers = members["aggregation"]?.string.map { ["automation-aggregation": $0] } ?? [:]
        let data = members["data"] == nil ? raw : "{\"metrics\":[\(raw)]}"
        return try? HealthAutoExport.changes(in: Array("{\"data\":\(data)}".utf8), headers: headers, now: .epoch)
    }
}
