import HealthModel

extension WayIn {
    /// What the iPhone app healthykit (in the App Store: HealthSync) sends. It has no setting for a path, so the path is
    /// its server's, and it takes an answer for a failure unless that has its server's members.
    package static let healthykit = WayIn(
        path: "/api/apple-health/sync", types: ["application/json"],
        members: ["device_id", "export_id", "generated_at", "timezone", "metrics", "workouts"],
        reply: { items, known in
            ["ok": .bool(true), "received": .integer(items), "duplicates": .integer(known)]
        },
        read: { (request) throws(PushError) in
            try HealthykitBody.changes(in: request.body, now: request.now, limit: request.items)
        },
        reread: { raw in
            let list = raw.contains("\"activity_type\"") ? "workouts" : "metrics"
            return try? HealthykitBody.changes(in: Array("{\"\(list)\":[\(raw)]}".utf8), now: .epoch)
        })
}
