import HealthModel

/// What became of an element that the backend wouldn't accept.
package enum Refusal: Sendable, Equatable {
    case deadLetter
    /// A person dropped this version of it; a later version is delivered as usual.
    case dropped(version: Int64)

    func finding(of ours: HeldVersion) -> VerifyFinding? {
        switch self {
        case .deadLetter: .deadLetter
        case .dropped(let version): version == ours.version ? .dropped : nil
        }
    }
}
