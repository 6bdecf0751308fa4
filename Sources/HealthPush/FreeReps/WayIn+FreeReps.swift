extension WayIn {
    /// What the iPhone app FreeReps sends: Health Auto Export's form, with HealthKit's UUIDs and parts of its own. The app
    /// has no setting for a path or a header, so the path is its server's, and a proxy adds the token.
    package static let freeReps = WayIn(
        path: "/api/v1/ingest/", types: ["application/json"], names: ["name", "type"], members: ["data"],
        read: { (request) throws(PushError) in
            try HealthAutoExport.changes(
                in: request.body, aggregation: nil, now: request.now, limit: request.items, dialect: .freeReps)
        },
        reread: { HealthAutoExport.reread($0, dialect: .freeReps) })
}
