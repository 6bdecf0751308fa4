import HealthModel

extension WayIn {
    /// What the iPhone app Health Auto Export sends, and writes into files.
    package static let healthAutoExport = WayIn(
        path: "/v1/health-auto-export", types: ["application/json"], precision: Precision(lacksZone: true),
        names: ["name"], members: ["data"], pairing: AutoExportPairing.self,
        read: { (request) throws(PushError) in
            try HealthAutoExport.changes(
                in: request.body, aggregation: request.header("automation-aggregation"), now: request.now,
                limit: request.items)
        },
        reread: { raw in
            // A metric's item is kept inside its metric, any other inside its section. The time at which it was sent is
            // no longer known, so any other version of a statistic counts as newer.
            guard let members = try? Value(json: raw.utf8).object else { return nil }
            let data = members["data"] == nil ? raw : "{\"metrics\":[\(raw)]}"
            return try? HealthAutoExport.changes(
                in: Array("{\"data\":\(data)}".utf8), aggregation: members["aggregation"]?.string, now: .epoch)
        },
        isItemOfFile: { $0.utf8.first == UInt8(ascii: "{") })
}
