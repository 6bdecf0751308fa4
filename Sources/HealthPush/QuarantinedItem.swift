import HealthModel

/// An item of a request that wasn't understood, as the quarantine keeps it, read again by the rules of now.
package enum QuarantinedItem {
    /// - Parameters:
    ///   - raw: as `PushedChanges.quarantined` had it.
    ///   - isAutoExport: it came from Health Auto Export; else it is one of `/v1/samples`.
    /// - Returns: its samples; nil where it still isn't understood. What was too long was cut, and is never.
    package static func records(_ raw: String, isAutoExport: Bool) -> RecordBatch? {
        let changes =
            isAutoExport ? autoExport(raw) : try? SamplesBody.changes(json: Array("{\"samples\":[\(raw)]}".utf8))
        guard let changes, changes.quarantined.isEmpty, changes.records.count > 0 else { return nil }
        return changes.records
    }

    /// A metric's item lies within its metric, any other within its part. When it was sent isn't known any more, so of statistics every
    /// other statement counts as newer.
    private static func autoExport(_ raw: String) -> PushedChanges? {
        guard let members = try? Value(json: raw.utf8).object else { return nil }
        let headers = members["aggregation"]?.string.map { ["automation-aggregation": $0] } ?? [:]
        let data = members["data"] == nil ? raw : "{\"metrics\":[\(raw)]}"
        return try? HealthAutoExport.changes(in: Array("{\"data\":\(data)}".utf8), headers: headers, now: .epoch)
    }
}
