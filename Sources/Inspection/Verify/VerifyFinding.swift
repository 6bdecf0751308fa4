/// The possible differences between an element here and at the backend.
package enum VerifyFinding: String, CaseIterable, Sendable {
    /// Alive here, unknown there.
    case missing
    /// Deleted here, unknown there.
    case missingDeletion
    /// The backend has an older version.
    case older
    /// Deleted here, alive there.
    case aliveThere
    /// Alive here, deleted there by an older version.
    case deletedThere
    /// Alive here, deleted there by the same version or a later one, which nothing sent from here can overcome.
    case deletedLater
    /// The backend has a version that this stack has never assigned.
    case newer
    /// The backend has the same version with different content, which nothing sent from here can overcome.
    case altered
    /// The same content also exists under another id.
    case doubled
    /// Refused by the backend, and a dead letter here.
    case deadLetter
    /// Refused by the backend; a person has given up on this version.
    case dropped
    /// Not released or not delivered yet.
    case pending
    /// Not delivered, since its type is switched off or not chosen, or it is older than what is delivered.
    case off
    /// Alive there, unknown here.
    case beyond

    /// Whether the backend doesn't hold the element as it was delivered, or holds it more than once.
    package var isWrong: Bool {
        switch self {
        case .missing, .missingDeletion, .older, .aliveThere, .deletedThere, .deletedLater, .newer, .altered, .doubled:
            true
        case .deadLetter, .dropped, .pending, .off, .beyond: false
        }
    }

    /// Whether the backend has yet to accept the element in its present state.
    package var isUndelivered: Bool {
        switch self {
        case .deadLetter, .dropped, .pending, .off: true
        case .missing, .missingDeletion, .older, .aliveThere, .deletedThere, .deletedLater, .newer, .altered, .doubled,
            .beyond:
            false
        }
    }

    /// Whether delivering the element again repairs the difference.
    package var isRepairable: Bool {
        switch self {
        case .missing, .missingDeletion, .older, .aliveThere, .deletedThere: true
        case .deletedLater, .newer, .altered, .doubled, .deadLetter, .dropped, .pending, .off, .beyond: false
        }
    }

    var text: String {
        switch self {
        case .missing: "missing there"
        case .missingDeletion: "deletion missing there"
        case .older: "older there"
        case .aliveThere: "deleted here, alive there"
        case .deletedThere: "alive here, deleted there"
        case .deletedLater: "deleted there"
        case .newer: "newer there"
        case .altered: "altered there"
        case .doubled: "doubled there"
        case .deadLetter: "dead letter"
        case .dropped: "dropped"
        case .pending: "not delivered yet"
        case .off: "left out"
        case .beyond: "only there"
        }
    }
}

/// An element's version on one side.
package struct HeldVersion: Sendable, Equatable {
    package var version: Int64
    package var isDeleted: Bool
    /// Its `ContentNumber`; nil if unknown.
    package var content: Int64?

    package init(version: Int64, isDeleted: Bool, content: Int64? = nil) {
        self.version = version
        self.isDeleted = isDeleted
        self.content = content
    }
}

extension VerifyFinding {
    /// The finding for an element that this stack has delivered; nil when both sides agree. The backend's version rule
    /// decides: a higher version wins, and a deletion wins over the same version.
    /// - Parameter refusal: what became of the element, if the backend wouldn't accept it.
    package static func of(_ ours: HeldVersion, _ theirs: HeldVersion?, refusal: Refusal? = nil) -> VerifyFinding? {
        let refused = refusal?.finding(of: ours)
        guard let theirs else { return refused ?? (ours.isDeleted ? .missingDeletion : .missing) }
        if ours.isDeleted, theirs.isDeleted { return nil }
        // A deletion with the same version stays, no matter what is sent.
        if theirs.isDeleted, theirs.version >= ours.version { return .deletedLater }
        if theirs.version > ours.version { return .newer }
        if theirs.version == ours.version, theirs.isDeleted == ours.isDeleted {
            guard !ours.isDeleted, let mine = ours.content, let other = theirs.content else { return nil }
            return mine == other ? nil : .altered
        }
        if let refused { return refused }
        return ours.isDeleted ? .aliveThere : theirs.isDeleted ? .deletedThere : .older
    }
}
