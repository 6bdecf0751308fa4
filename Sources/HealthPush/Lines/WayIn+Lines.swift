extension WayIn {
    /// Plain lines, from a person's Shortcut.
    package static let lines = WayIn(
        path: "/v1/lines", types: ["text/plain"], pairing: ShortcutPairing.self,
        read: { (request) throws(PushError) in try LinesBody.changes(in: request.body, limit: request.items) },
        reread: { try? LinesBody.changes(in: Array($0.utf8)) })
}
