extension WayIn {
    /// A health store's changes, from a companion app or any program.
    package static let samples = WayIn(
        path: "/v1/samples", types: ["application/json"] + SamplesBody.lineTypes,
        members: ["samples", "deleted", "user"],
        read: { (request) throws(PushError) in try SamplesBody.changes(in: request) },
        reread: { try? SamplesBody.changes(json: Array("{\"samples\":[\($0)]}".utf8)) })
}
