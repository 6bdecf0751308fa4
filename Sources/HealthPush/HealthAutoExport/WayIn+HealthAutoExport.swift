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
        reread: { HealthAutoExport.reread($0) },
        isItemOfFile: { $0.utf8.first == UInt8(ascii: "{") })
}
