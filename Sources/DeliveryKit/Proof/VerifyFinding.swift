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
    /// Alive here, deleted there by the same version or a later one: a deletion that isn't known here.
    case deletedLater
    /// The backend has a later version of it than there is here, with other content.
    case newer
    /// The backend has the same version with different content.
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

    package enum Remedy: Sendable {
        /// Delivering the element again.
        case delivery
        /// Replacing what somebody else wrote, or a store that was lost: by a new version where there are versions.
        case decision
    }

    /// What repairs the difference; nil if nothing does.
    /// - Parameter keepsVersions: whether the destination takes only higher versions.
    package func remedy(keepsVersions: Bool = true) -> Remedy? {
        switch self {
        case .missing, .missingDeletion, .older, .deletedThere: .delivery
        case .aliveThere: keepsVersions ? .delivery : .decision
        case .newer, .altered: .decision
        case .deletedLater, .doubled, .deadLetter, .dropped, .pending, .off, .beyond: nil
        }
    }

    package var text: String {
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

extension VerifyFinding {
    /// The finding for an element that this stack has delivered; nil when both sides agree. The backend's version rule
    /// decides: a higher version wins, and a deletion wins over the same version.
    /// - Parameter refusal: what became of the element, if the backend wouldn't accept it.
    package static func of(_ ours: HeldVersion, _ theirs: HeldVersion?, refusal: Refusal? = nil) -> VerifyFinding? {
        let refused = refusal?.finding(of: ours)
        guard let theirs else { return refused ?? (ours.isDeleted ? .missingDeletion : .missing) }
        if ours.isDeleted, theirs.isDeleted { return nil }
        let isSame =
            theirs.isDeleted == ours.isDeleted
            && ours.content.flatMap { mine in theirs.content.map { $0 == mine } } ?? true
        let (mine, other) = (ours.version ?? 0, theirs.version ?? ours.version ?? 0)
        if theirs.version != nil {
            // A deletion with the same version stays, no matter what is sent.
            if theirs.isDeleted, other >= mine { return .deletedLater }
            if other > mine { return ours.content != nil && theirs.content != nil && isSame ? nil : .newer }
        }
        if other == mine, theirs.isDeleted == ours.isDeleted { return isSame ? nil : .altered }
        if let refused { return refused }
        return ours.isDeleted ? .aliveThere : theirs.isDeleted ? .deletedThere : .older
    }
}
