extension WayIn {
    /// What the app Life Dashboard Companion sends, from an iPhone or an Android phone.
    package static let lifeDashboard = WayIn(
        path: "/v1/life-dashboard/{phone}", types: ["application/json"],
        proof: .signature(header: "X-Signature", prefix: "sha256="),
        precision: Precision(hidesResting: true), members: LifeDashboardBody.members,
        pairing: LifeDashboardPairing.self,
        read: { (request) throws(PushError) in try LifeDashboardBody.changes(in: request) },
        reread: { LifeDashboardBody.item($0) })
}
