import HealthModel

/// What a person wants done with their own event or type: from the ingest as part of an `IngestPart`, from a command as
/// part of a `RepairRequest`.
package struct OwnRequest: Codable, Sendable, Equatable {
    package enum Action: String, Codable, Sendable {
        case listTypes, addType, changeType, removeType
        case showEvent, addEvent, changeEvent, removeEvent

        /// Whether the request changes nothing.
        package var isRead: Bool { self == .listTypes || self == .showEvent }
    }

    package var action: Action
    /// An event's id or a type's name.
    @IfReadable package var id: String? = nil
    /// The version expected to be current; nil for any.
    @IfReadable package var version: Int64? = nil
    /// Whether the version came as a precondition (`If-Match`), so that a mismatch is answered with 412.
    @IfReadable package var isPrecondition: Bool? = nil
    /// The members to store; for a change, only those that differ, with null for those to remove. An added event
    /// without `start` gets the time at which it is stored.
    @IfReadable package var body: Value? = nil

    package init(_ action: Action, id: String? = nil, version: Int64? = nil, body: Value? = nil) {
        (self.action, self.id, self.version, self.body) = (action, id, version, body)
    }
}

/// The outcome, in the form that programs get over HTTP.
package struct OwnAnswer: Codable, Sendable, Equatable {
    /// The HTTP status.
    package var status: Int
    /// An event, a type, or a list of types; `{"code", "error", "hint"}` for a refusal, with `version` if a different
    /// one was expected.
    package var body: Value

    package init(_ status: Int, _ body: Value) { (self.status, self.body) = (status, body) }

    package var isRefusal: Bool { status >= 400 }

    /// - Parameters:
    ///   - code: a word that doesn't change between releases.
    ///   - version: the current version.
    ///   - id: the id of the entry that is in the way.
    package static func refusal(
        _ status: Int, _ code: String, _ error: String, hint: String, version: Int64? = nil, id: String? = nil
    ) -> OwnAnswer {
        var body: [String: Value] = ["code": .string(code), "error": .string(error), "hint": .string(hint)]
        if let version { body["version"] = .integer(version) }
        if let id { body["id"] = .string(id) }
        return OwnAnswer(status, .object(body))
    }
}
