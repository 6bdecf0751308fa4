extension WayIn {
    /// What the app Open Wearables sends from an iPhone, and any app made with its SDK.
    package static let openWearables = WayIn(
        path: "/api/v1/sdk/users/{user}/sync", types: ["application/json"], names: ["type", "stage"],
        members: ["provider", "sdkVersion", "syncTimestamp", "data"], status: 202,
        pairing: OpenWearablesPairing.self,
        read: { (request) throws(PushError) in
            try OpenWearablesBody.changes(in: request.body, limit: request.items)
        },
        reread: { raw in
            // Only the item was kept, not the list that it was in; no item fits two of them.
            let readings = OpenWearablesItem.List.allCases.compactMap { list in
                let body = "{\"provider\":\"apple\",\"data\":{\"\(list.rawValue)\":[\(raw)]}}"
                return try? OpenWearablesBody.changes(in: Array(body.utf8))
            }
            return readings.first { $0.quarantined.isEmpty } ?? readings.first
        })
}
